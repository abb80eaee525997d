// The timing mode `lossless`: the (gap, duration) pair of each call of a sequence, in nanoseconds and in call order, as
// chunks that are compressed independently (docs/format.md, "Lossless times").
//
// LosslessWriter is meant for the recorder: it owns no memory. The caller gives a buffer for the pairs of one chunk
// and, when that is full, a place for the finished chunk and a workspace for zstd. `add` costs a few nanoseconds.
// Nothing throws, allocates or prints. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "timing/mode.h"

namespace cairn::timing {

class LosslessWriter {
 public:
  /// The most pair bytes that one chunk may hold: what a decoder allocates for it at most.
  static constexpr size_t kMaxChunk = 65536;
  static constexpr int kLevel = 3;

  /// `pending` holds the pairs of the chunk being filled; `capacity` of 20 to kMaxChunk bytes, more is not used.
  LosslessWriter(uint8_t *pending, size_t capacity);

  /// False when the buffer is full: nothing was added, `flush` first.
  bool add(uint64_t gap, uint64_t duration) {
    if (capacity_ - used_ < 2 * kMaxVarint) return false;
    uint8_t *end = put_varint(pending_ + used_, gap);
    end = put_varint(end, duration);
    used_ = static_cast<size_t>(end - pending_);
    ++calls_;
    return true;
  }

  /// Calls that `flush` would write.
  [[nodiscard]] uint64_t pending_calls() const { return calls_; }

  /// Writes what is pending as one chunk at `out` and empties the buffer; 0 when nothing is pending or `capacity` is
  /// less than flush_bound(). Without a workspace of workspace_size() bytes, aligned to 8, the chunk is stored
  /// uncompressed.
  size_t flush(uint8_t *out, size_t capacity, void *workspace, size_t workspace_bytes);

  /// Room for any chunk with this much pending.
  [[nodiscard]] size_t flush_bound() const { return 3 * kMaxVarint + used_; }
  static size_t workspace_size();

 private:
  uint8_t *pending_;
  size_t capacity_;
  size_t used_ = 0;
  uint64_t calls_ = 0;
};

/// All pairs of a stream of `calls` calls (at most; fewer if recording stopped early). False, with the byte where it
/// went wrong, on anything else; allocates in proportion to what the bytes hold.
bool read_lossless(ByteView stream, uint64_t calls, std::vector<CallTime> *out, size_t *bad_byte);

}  // namespace cairn::timing
