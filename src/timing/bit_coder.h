// BitEncoder and BitDecoder: binary arithmetic coding. A bit that was said to be 1 with probability p costs -log2(p) or
// -log2(1 − p) bits, and the decoder, told the same probabilities, gives the same bits.
//
// Carry-free, on a range of 64 bits of which the bytes that are settled leave at the top: Howard and Vitter,
// "Arithmetic coding for data compression", Proc. IEEE 82 (1994). A decoder never reads past its end: what is missing
// there is zero, as `finish` leaves trailing zeros out.
//
// `code` of both takes the bit (which a decoder ignores) and gives it, so that one model is written once for both.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace cairn::timing {

/// Probabilities are in 65,536ths, from 1 to 65,535.
constexpr int kProbabilityBits = 16;
constexpr uint32_t kEven = 1U << (kProbabilityBits - 1);

/// Of so many plain bits, how many are coded in one step; 0 where the range has become too narrow for that, which is
/// rare: then one bit, as any other.
constexpr int plain_at_once(int left, uint64_t range) { return range < uint64_t{1} << 32 ? 0 : left < 16 ? left : 16; }

class BitEncoder {
 public:
  static constexpr bool kDecodes = false;
  explicit BitEncoder(Bytes *out) : out_(out) {}
  bool code(uint32_t one, bool bit) {
    const uint64_t middle = low_ + ((high_ - low_) >> kProbabilityBits) * one;
    (bit ? high_ : low_) = bit ? middle : middle + 1;
    shift();
    return bit;
  }
  /// `count` bits, at most 64, that nothing is known of.
  uint64_t code_plain(uint64_t value, int count) {
    for (int left = count; left > 0;) {
      const int some = plain_at_once(left, high_ - low_);
      if (some == 0) {
        code(kEven, (value >> --left & 1) != 0);
        continue;
      }
      left -= some;
      const uint64_t part = value >> left & ((1U << some) - 1);
      const uint64_t step = (high_ - low_) >> some;
      low_ += step * part;
      high_ = low_ + step - 1;
      shift();
    }
    return value;
  }
  /// Nothing may be coded after it.
  void finish() {
    // The number of fewest bytes within the range.
    for (int bytes = 0; bytes <= 8; ++bytes) {
      const uint64_t below = bytes == 0 ? UINT64_MAX : bytes == 8 ? 0 : UINT64_MAX >> (8 * bytes);
      const uint64_t value = bytes == 0 ? 0 : (low_ > UINT64_MAX - below ? UINT64_MAX : low_ + below) & ~below;
      if (value < low_ || value > high_) continue;
      for (int i = 0; i < bytes; ++i) out_->push_back(static_cast<uint8_t>(value >> (56 - 8 * i)));
      return;
    }
  }

 private:
  void shift() {
    while (((low_ ^ high_) >> 56) == 0) {
      out_->push_back(static_cast<uint8_t>(high_ >> 56));
      low_ <<= 8;
      high_ = high_ << 8 | 0xff;
    }
  }
  Bytes *out_;
  uint64_t low_ = 0;
  uint64_t high_ = UINT64_MAX;
};

class BitDecoder {
 public:
  static constexpr bool kDecodes = true;
  explicit BitDecoder(ByteView bytes) : bytes_(bytes) {
    for (int i = 0; i < 8; ++i) value_ = value_ << 8 | next();
  }
  bool code(uint32_t one, bool /*ignored*/) {
    const uint64_t middle = low_ + ((high_ - low_) >> kProbabilityBits) * one;
    const bool bit = value_ <= middle;
    (bit ? high_ : low_) = bit ? middle : middle + 1;
    shift();
    return bit;
  }
  uint64_t code_plain(uint64_t /*ignored*/, int count) {
    uint64_t value = 0;
    for (int left = count; left > 0;) {
      const int some = plain_at_once(left, high_ - low_);
      if (some == 0) {
        --left;
        value = value << 1 | (code(kEven, false) ? 1 : 0);
        continue;
      }
      left -= some;
      const uint64_t step = (high_ - low_) >> some;
      uint64_t part = (value_ - low_) / step;
      const uint64_t most = (1U << some) - 1;
      if (part > most) part = most;  // only of bytes that no encoder wrote
      value = value << some | part;
      low_ += step * part;
      high_ = low_ + step - 1;
      shift();
    }
    return value;
  }
  /// Bytes that were asked for beyond the end. An encoder's own leave out 8 at most.
  [[nodiscard]] size_t missing() const { return missing_; }

 private:
  uint8_t next() {
    if (at_ < bytes_.size()) return bytes_[at_++];
    ++missing_;
    return 0;
  }
  void shift() {
    while (((low_ ^ high_) >> 56) == 0) {
      low_ <<= 8;
      high_ = high_ << 8 | 0xff;
      value_ = value_ << 8 | next();
    }
  }
  ByteView bytes_;
  size_t at_ = 0;
  size_t missing_ = 0;
  uint64_t low_ = 0;
  uint64_t high_ = UINT64_MAX;
  uint64_t value_ = 0;
};

}  // namespace cairn::timing
