// Block: a compressed piece of the virtual file, as the index knows it; and blocks as bytes.
//
// Any thread may call any function here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arrays/codec/array_codec.h"
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
  bool filed = false;           ///< stands in a segment of the file (segment.h); not among its bytes
  bool chained = false;         ///< coded against another, or another against it (index.h); not among its bytes
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

/// Bytes as they stand in an index: codec, size, and what the codec made of them. False: they are damaged.
void pack_stream(ByteView plain, ByteWriter *out);
[[nodiscard]] bool unpack_stream(ByteView packed, Bytes *plain);

/// Blocks in their order, each told by what differs from the one before: as they travel between ranks, in the journal
/// and in the index itself. Reading gives all of them, or an error.
Bytes pack(std::span<const Block> blocks);
void pack(std::span<const Block *const> blocks, ByteWriter *out);
Result<std::vector<Block>> unpack_blocks(ByteView bytes);
Result<std::vector<Block>> unpack_blocks(ByteReader *in);

/// The same field of all blocks together, and each shape once: of regular decompositions little more than sizes and
/// checksums is left (12 bytes a block, against 22 to 40 by `pack`).
Bytes pack_columns(std::span<const Block *const> blocks);
Result<std::vector<Block>> unpack_columns(ByteView bytes);

}  // namespace cairn::arrays
