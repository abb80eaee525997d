// Segments: parts of an index that stand apart from it in the file and are never changed.
//
// An index that was written anew at each sync would in the end cost more than the blocks. So what it names is put away,
// once there is enough of it: blocks go into segments, the segments into lists when they have become many, and what is
// written anew is the list of those and the blocks of late. A reader takes in the segments that a request touches.
// Those of one index hold different parts of the file where they can: of one time step, or of one variable; in the
// order of the list, a later one tells of later writes.
//
// Blocks that are coded against others, and those that others are coded against, stand in segments of their own: every
// reader takes these in before anything else, whatever it asks for. No list names them.
//
// Any thread may call any function here. docs/arrays.md has the bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "arrays/file/block.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cairn::arrays {

struct Segment {
  static constexpr size_t kMostStretches = 4;

  uint64_t offset = 0;  ///< in the physical file
  uint64_t size = 0;
  uint64_t checksum = 0;   ///< XXH3 of its bytes
  bool list = false;       ///< holds segments instead of blocks; those are no lists
  bool first = false;      ///< taken in before all others: its blocks may be coded against each other
  bool referring = false;  ///< of an earlier Cairn: a block of it is coded against one of any segment before
  uint64_t blocks = 0;     ///< in it, or in those that it lists
  uint64_t newest = 0;     ///< highest sequence number of a block
  uint64_t moved = 0;      ///< how much further its blocks lie than it says, modulo 2^64 (a tool has copied the file)
  /// Where in the virtual file its blocks have their bytes: in order, apart from each other, at most kMostStretches.
  std::vector<Run> stretches;

  [[nodiscard]] Run place() const { return {offset, size}; }
  [[nodiscard]] bool touches(std::span<const Region> regions) const;
};

/// How large the parts of an index are, in blocks. All follow from one number, so that tests can make them small.
struct IndexSizes {
  uint64_t segment = 4096;  ///< blocks in a segment, at most; as many stand in the index itself, less one
  [[nodiscard]] uint64_t list() const { return std::max<uint64_t>(segment / 8, 2); }  ///< segments in a list
  /// Blocks that one process holds that need not.
  [[nodiscard]] uint64_t held() const { return 64 * segment; }
  /// Blocks that come to one process at a sync from all others; if there are more, several write segments.
  [[nodiscard]] uint64_t gathered() const { return 16 * segment; }
  /// Ranks whose blocks one of them writes then, each of which has `most` at most.
  [[nodiscard]] uint64_t group(uint64_t most) const {
    constexpr uint64_t kMostRanks = 256;
    return std::clamp<uint64_t>(gathered() / std::max<uint64_t>(most, 1), 1, kMostRanks);
  }
};

/// New segments: their bytes, and their descriptions.
struct Filing {
  Bytes bytes;
  std::vector<Segment> segments;
};
/// The blocks as segments that are to stand at `at`, in an order that brings what lies together in the virtual file
/// together; or as `first` ones, in the given order, in which each is behind the one that it is coded against.
Filing file_blocks(std::vector<const Block *> blocks, uint64_t at, const IndexSizes &sizes, bool first = false);
/// How many stand behind the last that is `first` or a list.
size_t behind_lists(std::span<const Segment> segments);
/// Puts segments into lists, the oldest first, until less than `sizes.list()` stand behind these: appends the lists'
/// bytes to `bytes`, which are to stand at `at`.
void file_segments(std::vector<Segment> *segments, uint64_t at, const IndexSizes &sizes, Bytes *bytes);

void pack(std::span<const Segment> segments, ByteWriter *out);
Result<std::vector<Segment>> unpack_segments(ByteReader *in);

/// What stands at the place of a segment: blocks, filed, where they lie now; or segments.
struct Unfiled {
  std::vector<Block> blocks;
  std::vector<Segment> segments;
};
Result<Unfiled> unfile(const Segment &segment, ByteView bytes);

}  // namespace cairn::arrays
