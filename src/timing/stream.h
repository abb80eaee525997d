// The times of a sequence as a stream of blocks (block.h). Each block says how many calls it has, which mode coded it,
// how far its times may be off, and what the exact clock was: so it decodes alone.
//
// *Placed* is where a call's begin is told to be. Gaps and durations that are each within a bound add up to a clock
// that drifts: so every block begins at the exact clock, and within it there is an *anchor*, the exact begin of a call,
// every so many calls, as many as take 1 % of the block's bytes. A call is placed at the anchor before it plus all that
// was coded since, but not before the end of the call that its gap counts from. What the encoder found that to be off
// by at most stands in the block. Exact modes need no anchors: gaps and durations add up.
//
// Each depth of nested calls has a clock of its own (ends_by_depth.h). Blocks of a sequence that has such calls say so.
// Earlier versions had one clock, which ran on while a call went on around others: such blocks are read so.
//
// A stream begins with a byte, kStreamMark: those of earlier versions (chunks.h) never begin so. They are read as one
// block. Layout: docs/format.md, "Times". Why following the decoder's clock with each gap, which drifts nowhere, was
// left out: docs/benchmarks.md, "Times".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "timing/ends_by_depth.h"
#include "timing/mode.h"

namespace cairn::timing {

/// What blocks have where nothing else limits them: enough for a coder to learn from, decoded in some 10 ms.
constexpr size_t kUsualBlockCalls = 20'000;

constexpr uint8_t kStreamMark = 0;

/// When a call ended, from the sequence's begin.
struct PlacedEnd {
  uint64_t clock_ns = 0;   ///< exactly; to a reader by what was coded
  uint64_t placed_ns = 0;  ///< as readers place it; never below what they placed before
};
/// Where a stream has come to; the next block goes on from there. Plain value.
using StreamEnd = EndsByDepth<PlacedEnd>;

/// What a stream's blocks say of themselves.
struct StreamSize {
  uint64_t blocks = 0;
  uint64_t calls = 0;
  uint64_t bytes = 0;
  uint64_t clock_error_ns = 0;  ///< the greatest distance of a placed begin or end from the true one

  void add(const StreamSize &other);
};

/// What keeping times took, beside what the calls themselves did.
struct TimesCost {
  StreamSize size;
  uint64_t coding_ns = 0;   ///< CPU time
  uint64_t writing_ns = 0;  ///< what writing them to files took

  void add(const TimesCost &other);
};

/// Appends a block, which is no mark, of all `times`, 1 to kMostBlockCalls, which become what readers will get. Throws
/// std::bad_alloc. Cost: the coder's, and 10 ns a call.
void encode_block(const Mode &mode, const BlockCalls &calls, std::span<CallTime> times, StreamEnd *end, Bytes *out,
                  StreamSize *size);

/// All times of a sequence, exact, of whose calls each has a group, numbered in any way, and each group a bound and,
/// unless all have 0, a depth.
Bytes encode_stream(const Mode &mode, std::span<const uint32_t> groups, std::span<const uint64_t> bounds,
                    std::vector<CallTime> times, StreamSize *size, std::span<const uint32_t> depths = {});

/// A block where it lies.
struct BlockPlace {
  uint64_t first_call = 0;  ///< in the sequence
  uint64_t calls = 0;
  uint64_t clock_error_ns = 0;
  uint64_t begin_ns = 0;  ///< where the last call before it is placed to end, from the sequence's begin
  size_t offset = 0;      ///< in the stream
  bool of_chunks = false;
  ByteView bytes;
};
/// The blocks of a stream of `calls` calls (fewer if recording stopped early), undecoded. False, with the byte where it
/// went wrong. Cost: the blocks.
bool find_blocks(ByteView stream, uint64_t calls, std::vector<BlockPlace> *blocks, size_t *bad_byte);
/// The blocks from byte `begin` on, as if the stream began there. What was found before it went wrong is kept.
bool find_blocks_from(size_t begin, ByteView stream, uint64_t calls, std::vector<BlockPlace> *blocks, size_t *bad_byte);
/// Of a damaged stream, of all of its sequence's `calls`: blocks that fill it to its end, as many as there are behind
/// byte `begin`, where an earlier block does, and behind `calls_before` calls. Their checks have still to be asked.
/// Cost: the bytes.
std::vector<BlockPlace> find_last_blocks(size_t begin, uint64_t calls_before, ByteView stream, uint64_t calls);

struct PlacedTime {
  uint64_t begin_ns = 0;  ///< from the sequence's begin
  CallTime time;
};
/// The times of a block whose calls have these groups, and these depths (block.h). Nothing, or what is wrong with it.
const char *decode_block(const BlockPlace &block, std::span<const uint32_t> groups, std::vector<PlacedTime> *times,
                         std::span<const uint32_t> depths = {});

}  // namespace cairn::timing
