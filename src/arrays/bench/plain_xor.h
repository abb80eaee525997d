// The paper's scheme as its figure 6 shows it, written plainly: for each element the number of leading zeros of its XOR
// with the one before, then what remains, bit behind bit. The codec "xor" is measured against this.
#pragma once

#include <bit>
#include <cstring>

#include "arrays/codec/array_codec.h"

namespace cairn::bench {

template <typename T>
void plain_xor_of(ByteView values, Bytes *out) {
  constexpr unsigned kBits = sizeof(T) * 8;
  constexpr unsigned kCount = kBits == 32 ? 5 : 6;
  const size_t before = out->size();
  out->resize(before + values.size() + values.size() / 4 + 16);
  uint8_t *to = out->data() + before;
  uint64_t word = 0;
  unsigned fill = 0;
  const auto put = [&](uint64_t bits, unsigned width) {
    word |= bits << fill;
    if (fill + width >= 64) {
      memcpy(to, &word, 8);
      to += 8;
      word = fill == 0 ? 0 : bits >> (64 - fill);
      fill = fill + width - 64;
    } else {
      fill += width;
    }
  };
  T last = 0;
  for (size_t at = 0; at < values.size(); at += sizeof(T)) {
    T value = 0;
    memcpy(&value, values.data() + at, sizeof(T));
    const T difference = value ^ last;
    last = value;
    const unsigned zeros = difference == 0 ? kBits - 1 : static_cast<unsigned>(std::countl_zero(difference));
    put(zeros, kCount);
    put(difference, kBits - zeros);
  }
  memcpy(to, &word, 8);
  to += (fill + 7) / 8;
  out->resize(static_cast<size_t>(to - out->data()));
}

template <typename T>
bool plain_xor_back_of(ByteView encoded, Bytes *values) {
  constexpr unsigned kBits = sizeof(T) * 8;
  constexpr unsigned kCount = kBits == 32 ? 5 : 6;
  Bytes padded(encoded.begin(), encoded.end());
  padded.resize(padded.size() + 16);
  uint64_t bit = 0;
  const auto get = [&](unsigned width) {
    uint64_t word = 0;
    memcpy(&word, padded.data() + bit / 8, 8);
    word >>= bit % 8;
    if (bit % 8 + width > 64) word |= static_cast<uint64_t>(padded[bit / 8 + 8]) << (64 - bit % 8);
    bit += width;
    return width == 64 ? word : word & ((uint64_t{1} << width) - 1);
  };
  T last = 0;
  for (size_t at = 0; at < values->size(); at += sizeof(T)) {
    if (bit / 8 >= encoded.size()) return false;
    last ^= static_cast<T>(get(kBits - static_cast<unsigned>(get(kCount))));
    memcpy(values->data() + at, &last, sizeof(T));
  }
  return true;
}

inline bool plain_xor(ByteView values, codec::Element element, Bytes *out) {
  size_of(element) == 8 ? plain_xor_of<uint64_t>(values, out) : plain_xor_of<uint32_t>(values, out);
  return size_of(element) >= 4;
}
inline bool plain_xor_back(ByteView encoded, codec::Element element, Bytes *values) {
  return size_of(element) == 8 ? plain_xor_back_of<uint64_t>(encoded, values)
                               : plain_xor_back_of<uint32_t>(encoded, values);
}

}  // namespace cairn::bench
