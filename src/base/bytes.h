// ByteWriter and ByteReader: the one way bytes are written and read in this project.
//
// Integers are little-endian base-128 varints (LEB128); signed ones are zigzag-mapped first.
// A reader never reads past its end and never allocates: after the first violation it stays `failed()`,
// and what it gives from there on means nothing; `position()` then is that place or behind. Check once at the end
// of a record, and check counts against `remaining()` before reserving memory for them. Where few bytes may stand for
// much, `take` what that is going to need.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/allowance.h"

namespace cairn {

using Bytes = std::vector<uint8_t>;
using ByteView = std::span<const uint8_t>;

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

constexpr size_t kMaxVarint = 10;

/// Writes `value` at `out` (room for kMaxVarint bytes) and returns the end.
inline uint8_t *put_varint(uint8_t *out, uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

class ByteWriter {
 public:
  ByteWriter() = default;
  /// With room for so many bytes, where about as many will come.
  explicit ByteWriter(size_t room) { bytes_.reserve(room); }
  void byte(uint8_t value) { bytes_.push_back(value); }
  void varint(uint64_t value) {
    // Most have a few bytes: fewer than it takes to begin moving several at once.
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  void signed_varint(int64_t value) { varint(zigzag(value)); }
  void fixed32(uint32_t value) { fixed(value, 4); }
  void fixed64(uint64_t value) { fixed(value, 8); }
  /// The lowest `width` bytes, up to 8, the lowest first.
  void fixed(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void raw(ByteView bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// A length and that many bytes.
  void blob(ByteView bytes) {
    varint(bytes.size());
    raw(bytes);
  }
  void text(std::string_view text) { blob({reinterpret_cast<const uint8_t *>(text.data()), text.size()}); }
  [[nodiscard]] size_t size() const { return bytes_.size(); }
  [[nodiscard]] ByteView view() const { return bytes_; }
  [[nodiscard]] Bytes take() { return std::move(bytes_); }
  /// Keeps the room.
  void clear() { bytes_.clear(); }

 private:
  Bytes bytes_;
};

class ByteReader {
 public:
  /// What is made of the bytes comes from `allowance`, which must outlive this; nullptr: whoever wrote them is trusted.
  explicit ByteReader(ByteView bytes, Allowance *allowance = nullptr) : bytes_(bytes), allowance_(allowance) {}

  uint8_t byte() {
    if (position_ >= bytes_.size()) return fail();
    return bytes_[position_++];
  }
  uint64_t varint() {
    if (position_ < bytes_.size() && bytes_[position_] < 0x80) return bytes_[position_++];  // most are
    return long_varint();
  }
  int64_t signed_varint() { return unzigzag(varint()); }
  /// A varint that counts things of at least `bytes_each` bytes still to come; fails when they
  /// cannot all be there, so that a hostile count never turns into an allocation.
  size_t count(size_t bytes_each = 1) {
    const uint64_t value = varint();
    if (failed_ || value > remaining() / (bytes_each == 0 ? 1 : bytes_each)) return fail();
    return static_cast<size_t>(value);
  }
  uint32_t fixed32() { return static_cast<uint32_t>(fixed(4)); }
  uint64_t fixed64() { return fixed(8); }
  /// `width` bytes, up to 8, the lowest first.
  uint64_t fixed(int width) {
    if (static_cast<size_t>(width) > remaining()) return fail();
    uint64_t value = 0;
    for (int i = 0; i < width; ++i) value |= static_cast<uint64_t>(bytes_[position_++]) << (8 * i);
    return value;
  }
  ByteView raw(uint64_t size) {
    if (size > remaining()) {
      fail();
      return {};
    }
    const ByteView view = bytes_.subspan(position_, static_cast<size_t>(size));
    position_ += view.size();
    return view;
  }
  ByteView blob() { return raw(count()); }
  std::string text() {
    const ByteView view = blob();
    return {reinterpret_cast<const char *>(view.data()), view.size()};
  }
  /// Memory for `count` things of `each` bytes that are to be made; fails where there is no more.
  bool take(uint64_t count, uint64_t each = 1) {
    if (allowance_ != nullptr && !allowance_->take(count, each)) fail();
    return !failed_;
  }
  [[nodiscard]] Allowance *allowance() const { return allowance_; }
  [[nodiscard]] size_t position() const { return position_; }
  [[nodiscard]] size_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }
  /// Marks what was read as invalid; returns 0 so that callers can return it.
  uint8_t fail() {
    failed_ = true;
    return 0;
  }

 private:
  /// Of several bytes. Special atoms have ten: so eight are taken at once.
  [[gnu::noinline]] uint64_t long_varint() {
    const uint8_t *at = bytes_.data() + position_;
    uint8_t last[kMaxVarint] = {};  // zeros end what is cut short
    if (remaining() < kMaxVarint) {
      if (remaining() != 0) std::memcpy(last, at, remaining());
      at = last;
    }
    const auto of = [at](int i) { return static_cast<uint64_t>(at[i]) << (8 * i); };
    uint64_t value = of(0) | of(1) | of(2) | of(3) | of(4) | of(5) | of(6) | of(7);  // one load
    const uint64_t ends = ~value & 0x8080808080808080U;
    if (ends != 0) value &= ends ^ (ends - 1);  // what comes after the first of them is another's
    value &= 0x7f7f7f7f7f7f7f7fU;
    value = (value & 0x007f007f007f007fU) | (value & 0x7f007f007f007f00U) >> 1;
    value = (value & 0x00003fff00003fffU) | (value & 0x3fff00003fff0000U) >> 2;
    value = (value & 0x000000000fffffffU) | (value & 0x0fffffff00000000U) >> 4;
    const size_t length = ends != 0 ? static_cast<size_t>(std::countr_zero(ends)) / 8 + 1 : at[8] < 0x80 ? 9 : 10;
    const bool whole = length <= remaining();
    position_ += whole ? length : remaining();
    if (!whole || (length == 10 && at[9] > 1)) return fail();
    if (length > 8) value |= static_cast<uint64_t>(at[8] & 0x7f) << 56;
    return length > 9 ? value | static_cast<uint64_t>(at[9]) << 63 : value;
  }

  ByteView bytes_;
  Allowance *allowance_ = nullptr;
  size_t position_ = 0;
  bool failed_ = false;
};

}  // namespace cairn
