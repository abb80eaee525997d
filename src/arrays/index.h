// Index: which compressed block holds which bytes of the virtual file, and where it stands in the physical one.
//
// Blocks are never changed. A later write of the same bytes is another block with a higher sequence number; readers lay
// blocks over each other in that order, so that partial overwrites need no reading and no lock. A block over exactly
// the regions of an older one replaces it.
//
// The index stands in the file behind the blocks and is written anew whenever the file is synchronised; the file's
// header names the latest (arrays/physical.h). In memory it is some hundred bytes a block. Not to be used by two
// threads at once. Cost: adding is amortised constant; a query sorts what was added since the last one, then costs what
// it finds.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "arrays/region.h"
#include "base/bytes.h"
#include "base/result.h"
#include "codec/array/array_codec.h"

namespace cairn::arrays {

/// No block holds more: a reader may allocate that much for a single number in a file.
constexpr uint64_t kMostBlock = uint64_t{256} << 20;

struct Block {
  Regions regions;  ///< in file order; the block's values are theirs, one after the other
  codec::Element element = codec::Element::u8;
  uint8_t codec = 0;  ///< of array_codec.h; from kFirstOfUsers on, a place in Index::user_codecs
  bool at_home =
      false;  ///< the bytes lie where the uncompressed ones would: in the first of the regions' runs (sparse)
  std::vector<uint64_t> shape;  ///< in elements
  uint64_t sequence = 0;
  uint64_t offset = 0;    ///< in the physical file; of no meaning if at_home
  uint64_t size = 0;      ///< compressed
  uint64_t checksum = 0;  ///< XXH3 of the compressed bytes

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

  void add(Block block);
  [[nodiscard]] const std::vector<Block> &blocks() const { return blocks_; }
  std::vector<Block> &blocks() { return blocks_; }
  /// The end of what was ever written to the virtual file.
  [[nodiscard]] uint64_t virtual_end() const;
  /// Numbers of the blocks that hold bytes of the regions, oldest first.
  [[nodiscard]] std::vector<size_t> find(std::span<const Region> regions) const;

 private:
  struct Interval {
    uint64_t begin, end;
    uint64_t reach;  ///< the furthest end of all up to here
    size_t block;
  };
  void sort() const;

  std::vector<Block> blocks_;
  std::unordered_map<uint64_t, size_t> by_regions_;
  uint64_t virtual_end_ = 0;
  mutable std::vector<Interval> sorted_;
  mutable bool unsorted_ = false;
};

/// Blocks as they travel between ranks, and their reading: all of them, or an error.
Bytes pack(std::span<const Block> blocks);
Result<std::vector<Block>> unpack_blocks(ByteView bytes);

/// An index as it stands in a file.
Bytes pack(const Index &index);
Result<Index> unpack_index(ByteView bytes);

}  // namespace cairn::arrays
