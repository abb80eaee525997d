// Index: which compressed block holds which bytes of the virtual file, and where it stands in the physical one.
//
// Blocks are never changed. A later write of the same bytes is another block with a higher sequence number; readers lay
// blocks over each other in that order, so that partial overwrites need no reading and no lock. A block over exactly
// the regions of an older one replaces it. A block may be coded against an earlier one of the same shape (the same box
// one time step before); then that one stays, replaced or not, for as long as others need it.
//
// The index stands in the file behind the blocks and is written anew whenever the file is synchronised; the file's
// header names the latest (arrays/file/physical.h). That would take more than the blocks in the end: so most of what it
// names is put away into segments (arrays/file/segment.h), which stay where they are; what is written anew is a list of
// those and the blocks since. `plan` says what is to go into segments, `filed` that it did. Who reads an index has the
// blocks of its segments after `load`: those that a request may touch, or all.
//
// Blocks that are coded against others, and those that others are coded against, are *chained*: they are always here.
// Their segments are read first and never let go. So are all segments that are written while blocks may still come that
// are coded against earlier ones (from `keep_replaced` to `end_chains`), since any of theirs may be such an earlier
// one.
//
// In memory it is some hundred bytes a block. Not to be used by two threads at once. Cost: adding is amortised
// constant; a query sorts in what was added since the last one, then costs what it finds, times the logarithm of the
// number of blocks (arrays/file/intervals.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "arrays/file/block.h"
#include "arrays/file/intervals.h"
#include "arrays/file/segment.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cairn::arrays {

/// Gives all bytes of a place in the physical file.
using ReadPlace = std::function<Result<Bytes>(const Run &)>;

class Index {
 public:
  Bytes header;                          ///< the virtual file's first bytes: its NetCDF header
  std::vector<std::string> user_codecs;  ///< names
  uint64_t data_begin = 0;               ///< in the physical file: what is before is room for its header
  uint64_t home = 0;                     ///< where byte 0 of the virtual file would lie, for blocks that are at home
  uint64_t home_end = 0;  ///< what is at home ends here in the physical file, everything else begins; 0: none is
  uint64_t end = 0;       ///< of all blocks in the physical file: where more may be put
  uint64_t replaced = 0;  ///< bytes of blocks that no reader needs any more

  /// Everything in the physical file lies so much further, modulo 2^64. False: further than any file goes.
  [[nodiscard]] bool move(uint64_t by);
  /// Blocks that are replaced stay until `drop_unneeded`, since others may be coded against them that are not here yet.
  /// So it is from the first such block on, whether this was called or not.
  void keep_replaced();
  /// False if it is coded against a block that is not here or not like it; then it was not added.
  [[nodiscard]] bool add(Block block);
  /// No block that is added from now on is coded against one that stands in a segment, but for `chained` ones.
  void end_chains() { ended_ = true; }
  /// Forgets replaced blocks that none is coded against. Gives whether numbers of blocks have changed.
  bool drop_unneeded();
  [[nodiscard]] const std::vector<Block> &blocks() const { return blocks_; }
  std::vector<Block> &blocks() { return blocks_; }
  /// Whether there is a block with this sequence number. Only while replaced blocks are kept.
  [[nodiscard]] bool holds(uint64_t sequence) const { return by_sequence_.contains(sequence); }
  /// The number of the block that a block is coded against, if it is.
  [[nodiscard]] std::optional<size_t> reference_of(const Block &block) const;
  /// How many blocks have to be decoded before this one.
  [[nodiscard]] uint32_t depth(size_t block) const;
  /// The end of what was ever written to the virtual file.
  [[nodiscard]] uint64_t virtual_end() const;
  /// How many blocks there are, those in segments as well, and some that are replaced.
  [[nodiscard]] uint64_t named() const;
  /// The highest sequence number of all blocks, those in segments as well.
  [[nodiscard]] uint64_t newest() const;
  /// Numbers of the blocks that hold bytes of the regions, oldest first. Not before they are loaded.
  [[nodiscard]] std::vector<size_t> find(std::span<const Region> regions) const;
  /// Which blocks a reader may need: those that are not replaced and for which `visible` holds, and all that these are
  /// coded against, directly or not. Of a whole index.
  [[nodiscard]] std::vector<bool> needed(const std::function<bool(size_t)> &visible) const;

  [[nodiscard]] const std::vector<Segment> &segments() const { return segments_; }
  /// Where segments and lists of them stand that are known so far.
  [[nodiscard]] std::vector<Run> segment_places() const;
  /// Whether all blocks are here.
  [[nodiscard]] bool whole() const { return pending_.empty(); }
  /// Takes in the blocks of segments that may have bytes of the regions; their numbers are new ones. Error: one of
  /// those cannot be read or is damaged; the next call tries again.
  Result<void> load(std::span<const Region> regions, const ReadPlace &read);
  Result<void> load_all(const ReadPlace &read);
  /// What there is to be put into the file in front of the index, at `end`, before that is packed.
  struct Plan {
    Bytes bytes;
    std::vector<Segment> segments;  ///< all that there are then
    bool blocks = false;            ///< all blocks are in one of them
    bool anew = false;              ///< none of those that there were are among them
    bool chained = false;           ///< all that goes into segments may be coded against
  };
  /// Nothing: it is not worth it yet. Segments of which most has been replaced are written anew, if all is loaded.
  [[nodiscard]] std::optional<Plan> plan(const IndexSizes &sizes) const;
  /// The plan's bytes are in the file; `end` is behind them now.
  void filed(Plan plan);
  /// Others have put these into the file.
  void add_segments(std::vector<Segment> segments);
  /// Of a whole index: no segment is valid any more, as when blocks have moved.
  void unfile();
  /// Forgets what can be loaded again, if it is more than `held` blocks, or many segments that lists tell of; not while
  /// blocks may come that are coded against others. Gives whether numbers of blocks have changed.
  bool let_go(uint64_t held);

  friend Bytes pack(const Index &index);
  friend Bytes pack_for_others(const Index &index);
  friend Result<Index> unpack_index(ByteView bytes, const ReadPlace &read);
  friend Result<Index> unpack_of_others(ByteView bytes);

 private:
  bool insert(Block block);
  bool replace(size_t known, Block &block);
  void forget(const Block &block);
  void remember(size_t block);
  void rebuild();
  template <typename Wanted>
  Result<void> load_those(Wanted wanted, const ReadPlace &read);
  Result<void> load_first(const ReadPlace &read);
  // index_io.cc
  struct Root;
  static Result<Root> unpack_root(ByteView bytes);
  static Result<Index> completed(Root root);

  std::vector<Block> blocks_;  ///< each behind the one that it is coded against
  std::unordered_map<uint64_t, size_t> by_regions_;
  bool keeping_ = false;
  bool ended_ = false;  ///< chains have
  /// While replaced blocks are kept: their number, and where each sequence number is.
  size_t kept_ = 0;
  std::unordered_map<uint64_t, size_t> by_sequence_;
  std::vector<uint32_t> depths_;
  uint64_t virtual_end_ = 0;
  /// Of the first `known_` blocks, where they lie; also of those that were replaced since.
  mutable Intervals intervals_;
  mutable size_t known_ = 0;

  std::vector<Segment> segments_;    ///< lists, then others; oldest first
  std::vector<Segment> pending_;     ///< of those, and of what the lists name: what is not loaded
  std::vector<Run> listed_;          ///< what the lists name, as far as they were loaded
  uint64_t replaced_but_filed_ = 0;  ///< bytes of `replaced` whose blocks a segment still names
};

/// What an index names, without the blocks of any segment.
struct Index::Root {
  Index index;
  std::vector<Block> blocks;  ///< that it names itself, and that are not in it yet
  uint64_t replaced = 0;
};

/// The error of an index whose blocks cannot all be decoded.
tl::unexpected<Error> without_reference();
/// Whether some are coded against blocks that are neither among them nor here.
bool refer_elsewhere(std::span<const Block> blocks, const Index &index);

/// An index as it stands in a file, where its segments are.
Bytes pack(const Index &index);
/// The same for other processes, with the chained blocks of segments, which these need not read then.
Bytes pack_for_others(const Index &index);
/// `read`: called if there are segments that have to be read first.
Result<Index> unpack_index(ByteView bytes, const ReadPlace &read = {});
Result<Index> unpack_of_others(ByteView bytes);

}  // namespace cairn::arrays
