// Index: which compressed block holds which bytes of the virtual file, and where it stands in the physical one.
//
// Blocks are never changed. A later write of the same bytes is another block with a higher sequence number; readers lay
// blocks over each other in that order, so that partial overwrites need no reading and no lock. A block over exactly
// the regions of an older one replaces it. A block may be coded against an earlier one of the same shape (the same box
// one time step before); then that one stays, replaced or not, for as long as others need it.
//
// The index stands in the file behind the blocks and is written anew whenever the file is synchronised; the file's
// header names the latest (arrays/file/physical.h). In memory it is some hundred bytes a block. Not to be used by two
// threads at once. Cost: adding is amortised constant; a query sorts in what was added since the last one, then costs
// what it finds, times the logarithm of the number of blocks (arrays/file/intervals.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "arrays/codec/array_codec.h"
#include "arrays/file/intervals.h"
#include "arrays/file/region.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cairn::arrays {

/// No block holds more: a reader may allocate that much for a single number in a file.
constexpr uint64_t kMostBlock = uint64_t{256} << 20;

/// No place in a file is further.
constexpr uint64_t kMostOffset = uint64_t{1} << 60;

/// No block is further from one that is coded against none: a reader decodes that many for one of them.
constexpr uint32_t kMostChain = 255;

struct Block {
  Regions regions;  ///< in file order; the block's values are theirs, one after the other
  codec::Element element = codec::Element::u8;
  uint8_t codec = 0;  ///< of array_codec.h; from kFirstOfUsers on, a place in Index::user_codecs
  bool at_home =
      false;  ///< the bytes lie where the uncompressed ones would: in the first of the regions' runs (sparse)
  std::vector<uint64_t> shape;  ///< in elements
  bool replaced = false;        ///< only blocks that are coded against it need it
  uint64_t sequence = 0;        ///< of a block that others are coded against no other has the same; never 0
  uint64_t reference = 0;       ///< sequence number of the block that it is coded against; 0: of none
  uint64_t offset = 0;          ///< in the physical file; of no meaning if at_home
  uint64_t size = 0;            ///< compressed
  uint64_t checksum = 0;        ///< XXH3 of the compressed bytes, seeded with the checksum of the reference

  [[nodiscard]] uint64_t begin() const { return regions.front().offset; }
  [[nodiscard]] uint64_t end() const { return regions.back().end(); }
  [[nodiscard]] uint64_t bytes() const { return bytes_of(regions); }
};

/// Where the bytes of a block lie in the physical file.
std::vector<Run> places(const Block &block, uint64_t home);

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
  /// Numbers of the blocks that hold bytes of the regions, oldest first.
  [[nodiscard]] std::vector<size_t> find(std::span<const Region> regions) const;
  /// Which blocks a reader may need: those that are not replaced and for which `visible` holds, and all that these are
  /// coded against, directly or not.
  [[nodiscard]] std::vector<bool> needed(const std::function<bool(size_t)> &visible) const;

 private:
  bool replace(size_t known, Block &block);
  void remember(size_t block);

  std::vector<Block> blocks_;  ///< each behind the one that it is coded against
  std::unordered_map<uint64_t, size_t> by_regions_;
  bool keeping_ = false;
  /// While replaced blocks are kept: their number, and where each sequence number is.
  size_t kept_ = 0;
  std::unordered_map<uint64_t, size_t> by_sequence_;
  std::vector<uint32_t> depths_;
  uint64_t virtual_end_ = 0;
  /// Of the first `known_` blocks, where they lie; also of those that were replaced since.
  mutable Intervals intervals_;
  mutable size_t known_ = 0;
};

/// Blocks as they travel between ranks, and their reading: all of them, or an error.
Bytes pack(std::span<const Block> blocks);
Result<std::vector<Block>> unpack_blocks(ByteView bytes);

/// An index as it stands in a file.
Bytes pack(const Index &index);
Result<Index> unpack_index(ByteView bytes);

}  // namespace cairn::arrays
