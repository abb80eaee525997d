// Bits into 32-bit words, lowest first, and back. A coder's only way to write: `Out` has `void word(uint32_t)`.
//
// The pending bits lie in the warp's state (PendingBits), so that the host can finish what the device began: a warp
// does not hear of the kernel's end, and one that returned early is never asked again.
#pragma once

#include "portability.h"

namespace cairn::gpu {

struct PendingBits {
  uint64_t bits;   ///< those not yet in a word
  uint32_t count;  ///< how many, below 32
};

/// The lowest `count` (0 to 32) bits of `value`, which has no others.
template <typename Out>
CAIRN_GPU_BOTH void put_bits(PendingBits &pending, Out &out, uint32_t value, uint32_t count) {
  pending.bits |= static_cast<uint64_t>(value) << pending.count;
  pending.count += count;
  if (pending.count >= 32) {
    out.word(static_cast<uint32_t>(pending.bits));
    pending.bits >>= 32;
    pending.count -= 32;
  }
}

/// Elias gamma of `value`, at least 1: as many zeros as follow its leading bit, a one, then what follows.
template <typename Out>
CAIRN_GPU_BOTH void put_gamma(PendingBits &pending, Out &out, uint32_t value) {
  const uint32_t follows = width_of(value) - 1;
  const uint32_t rest = value & ((uint32_t{1} << follows) - 1);
  const uint32_t zeros = follows < 16 ? follows : 0;  // that fit in one word with the rest
  if (zeros != follows) put_bits(pending, out, 0, follows);
  put_bits(pending, out, (rest << 1 | 1) << zeros, zeros + 1 + follows);
}

template <typename Out>
CAIRN_GPU_BOTH void put_mask(PendingBits &pending, Out &out, uint32_t mask) {
  put_bits(pending, out, mask, 32);
}
template <typename Out>
CAIRN_GPU_BOTH void put_mask(PendingBits &pending, Out &out, uint64_t mask) {
  put_bits(pending, out, static_cast<uint32_t>(mask), 32);
  put_bits(pending, out, static_cast<uint32_t>(mask >> 32), 32);
}

/// Writes out what is pending, filled with zeros to a word.
template <typename Out>
CAIRN_GPU_BOTH void flush_bits(PendingBits &pending, Out &out) {
  if (pending.count != 0) out.word(static_cast<uint32_t>(pending.bits));
  pending.bits = 0;
  pending.count = 0;
}

/// Reads what was put. Past the end it gives zeros and is `failed`.
class BitReader {
 public:
  CAIRN_GPU_BOTH BitReader(const uint32_t *words, uint64_t count) : words_(words), bits_(count * 32) {}
  CAIRN_GPU_BOTH uint32_t get(uint32_t count) {
    if (count > bits_ - at_) {
      failed_ = true;
      at_ = bits_;
      return 0;
    }
    uint32_t value = 0;
    for (uint32_t have = 0; have < count;) {
      const uint32_t offset = static_cast<uint32_t>(at_ & 31);
      const uint32_t take = count - have < 32 - offset ? count - have : 32 - offset;
      const uint64_t part = (words_[at_ >> 5] >> offset) & ((uint64_t{1} << take) - 1);
      value |= static_cast<uint32_t>(part << have);
      have += take;
      at_ += take;
    }
    return value;
  }
  /// As `get`, of up to 64.
  CAIRN_GPU_BOTH uint64_t wide(uint32_t count) {
    const uint64_t low = get(count < 32 ? count : 32);
    return count <= 32 ? low : low | static_cast<uint64_t>(get(count - 32)) << 32;
  }
  CAIRN_GPU_BOTH uint32_t gamma() {
    uint32_t follows = 0;
    while (!failed_ && get(1) == 0) ++follows;
    if (follows > 31) failed_ = true;
    return failed_ ? 1 : uint32_t{1} << follows | get(follows);
  }
  CAIRN_GPU_BOTH void mask(uint32_t &out) { out = get(32); }
  CAIRN_GPU_BOTH void mask(uint64_t &out) {
    const uint64_t low = get(32);
    out = low | static_cast<uint64_t>(get(32)) << 32;
  }
  [[nodiscard]] CAIRN_GPU_BOTH bool failed() const { return failed_; }
  /// Less than a word is left, and nothing but zeros: what flush_bits filled up with.
  [[nodiscard]] CAIRN_GPU_BOTH uint64_t left() const { return bits_ - at_; }

 private:
  const uint32_t *words_;
  uint64_t bits_;
  uint64_t at_ = 0;
  bool failed_ = false;
};

}  // namespace cairn::gpu
