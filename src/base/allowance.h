// Allowance: how much memory what is read may still take. One for all that comes from one file; what reads bytes takes
// from it before it makes anything of them (ByteReader::take), so that a file is refused before it can fill memory.
// Plain value, one thread.
#pragma once

#include <cstdint>

namespace cairn {

class Allowance {
 public:
  explicit Allowance(uint64_t bytes) : left_(bytes) {}

  void give(uint64_t bytes) { left_ = bytes > UINT64_MAX - left_ ? UINT64_MAX : left_ + bytes; }
  /// `count` things of `each` bytes. False if that is too much; then nothing more is there to be taken.
  bool take(uint64_t count, uint64_t each = 1) {
    if (spent_ || (each != 0 && count > left_ / each)) {
      spent_ = true;
      return false;
    }
    left_ -= count * each;
    return true;
  }
  [[nodiscard]] uint64_t left() const { return left_; }
  [[nodiscard]] bool spent() const { return spent_; }

 private:
  uint64_t left_;
  bool spent_ = false;
};

}  // namespace cairn
