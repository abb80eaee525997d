// BitPacker and BitUnpacker: numbers of any width side by side, the lowest bit of a byte first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/as_size.h"
#include "base/bytes.h"

namespace cairn::timing {

constexpr size_t bytes_for(uint64_t bits) { return as_size((bits + 7) / 8); }

class BitPacker {
 public:
  /// The lowest `bits` of `value`, at most 64.
  void put(uint64_t value, int bits) {
    for (int left = bits; left > 0;) {
      const int some = std::min(left, 32);
      pending_ |= (value & ((uint64_t{1} << some) - 1)) << held_;
      for (held_ += some; held_ >= 8; held_ -= 8, pending_ >>= 8) bytes_.push_back(static_cast<uint8_t>(pending_));
      value >>= some;
      left -= some;
    }
  }
  /// Nothing may be put after it.
  Bytes finish() {
    if (held_ > 0) bytes_.push_back(static_cast<uint8_t>(pending_));
    return std::move(bytes_);
  }

 private:
  Bytes bytes_;
  uint64_t pending_ = 0;
  int held_ = 0;
};

/// What is missing at the end of the bytes is zero.
class BitUnpacker {
 public:
  explicit BitUnpacker(ByteView bytes) : in_(bytes) {}
  uint64_t take(int bits) {
    uint64_t value = 0;
    for (int done = 0; done < bits;) {
      const int some = std::min(bits - done, 32);
      for (; held_ < some; held_ += 8) pending_ |= uint64_t{in_.byte()} << held_;
      value |= (pending_ & ((uint64_t{1} << some) - 1)) << done;
      pending_ >>= some;
      held_ -= some;
      done += some;
    }
    return value;
  }

 private:
  ByteReader in_;
  uint64_t pending_ = 0;
  int held_ = 0;
};

}  // namespace cairn::timing
