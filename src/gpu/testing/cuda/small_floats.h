// Real numbers of 16 bits, for the emulator: what <cuda_fp16.h> and <cuda_bf16.h> share. Each operation is that of
// float, rounded to nearest even, which is what the device's single operations give (sums, products and quotients of
// two).
#pragma once

#include "cuda_runtime.h"

namespace cairn::emulator {

/// IEEE's half: 5 bits of exponent, 10 of fraction.
struct HalfBits {
  static uint16_t from(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
    const uint32_t rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) return sign | 0x7fff;
    if (rest >= 0x477ff000) return sign | 0x7c00;  // what rounds to 65,520 or more
    if (rest < 0x38800000) {                       // below the least normal number: a multiple of 2^-24
      return sign | static_cast<uint16_t>(std::nearbyint(std::bit_cast<float>(rest) * 16777216.0f));
    }
    return sign | static_cast<uint16_t>((rest + 0xfff + (rest >> 13 & 1) - 0x38000000) >> 13);
  }
  static float to(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
    const uint32_t rest = half & 0x7fff;
    if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    const float value =
        rest < 0x400 ? static_cast<float>(rest) / 16777216.0f : std::bit_cast<float>((rest << 13) + 0x38000000);
    return sign != 0 ? -value : value;
  }
};
/// The first half of a float.
struct BrainBits {
  static uint16_t from(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  static float to(uint16_t brain) { return std::bit_cast<float>(uint32_t{brain} << 16); }
};

template <typename Bits>
struct SmallFloat {
  uint16_t __x;
  SmallFloat() = default;
  // NOLINTBEGIN(google-explicit-constructor): CUDA's convert
  SmallFloat(float value) : __x(Bits::from(value)) {}
  SmallFloat(double value) : SmallFloat(static_cast<float>(value)) {}
  template <typename Integer>
  requires std::is_integral_v<Integer> SmallFloat(Integer value) : SmallFloat(static_cast<float>(value)) {}
  operator float() const { return Bits::to(__x); }
  // NOLINTEND(google-explicit-constructor)
  static SmallFloat of_bits(uint16_t bits) {
    SmallFloat out;
    out.__x = bits;
    return out;
  }
#define CAIRN_OPERATOR(op)                                                                                 \
  friend SmallFloat operator op(SmallFloat a, SmallFloat b) { return Bits::to(a.__x) op Bits::to(b.__x); } \
  SmallFloat &operator op##=(SmallFloat other) { return *this = *this op other; }
  CAIRN_OPERATOR(+)
  CAIRN_OPERATOR(-)
  CAIRN_OPERATOR(*)
  CAIRN_OPERATOR(/)
#undef CAIRN_OPERATOR
#define CAIRN_COMPARISON(op) \
  friend bool operator op(SmallFloat a, SmallFloat b) { return Bits::to(a.__x) op Bits::to(b.__x); }
  CAIRN_COMPARISON(==)
  CAIRN_COMPARISON(!=)
  CAIRN_COMPARISON(<)
  CAIRN_COMPARISON(>)
  CAIRN_COMPARISON(<=)
  CAIRN_COMPARISON(>=)
#undef CAIRN_COMPARISON
  SmallFloat operator-() const { return -Bits::to(__x); }
};
/// Two in a word.
template <typename T>
struct alignas(4) SmallPair {
  T x, y;
  friend SmallPair operator+(SmallPair a, SmallPair b) { return {a.x + b.x, a.y + b.y}; }
  friend SmallPair operator-(SmallPair a, SmallPair b) { return {a.x - b.x, a.y - b.y}; }
  friend SmallPair operator*(SmallPair a, SmallPair b) { return {a.x * b.x, a.y * b.y}; }
};

}  // namespace cairn::emulator

// What both types have, under the same names.
#define CAIRN_SMALL_FUNCTIONS(T, T2)                                                      \
  inline T __hadd(T a, T b) { return a + b; }                                             \
  inline T __hsub(T a, T b) { return a - b; }                                             \
  inline T __hmul(T a, T b) { return a * b; }                                             \
  inline T __hdiv(T a, T b) { return a / b; }                                             \
  inline T __hneg(T a) { return -a; }                                                     \
  inline T __habs(T a) { return std::fabs(static_cast<float>(a)); }                       \
  inline T __hfma(T a, T b, T c) {                                                        \
    return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)); \
  }                                                                                       \
  inline T __hmax(T a, T b) { return a < b ? b : a; }                                     \
  inline T __hmin(T a, T b) { return b < a ? b : a; }                                     \
  inline bool __hgt(T a, T b) { return a > b; }                                           \
  inline bool __hlt(T a, T b) { return a < b; }                                           \
  inline bool __hge(T a, T b) { return a >= b; }                                          \
  inline bool __hle(T a, T b) { return a <= b; }                                          \
  inline bool __heq(T a, T b) { return a == b; }                                          \
  inline T hexp(T a) { return std::exp(static_cast<float>(a)); }                          \
  inline T hlog(T a) { return std::log(static_cast<float>(a)); }                          \
  inline T hsqrt(T a) { return std::sqrt(static_cast<float>(a)); }                        \
  inline T hrsqrt(T a) { return rsqrtf(static_cast<float>(a)); }                          \
  inline T2 __hadd2(T2 a, T2 b) { return a + b; }                                         \
  inline T2 __hsub2(T2 a, T2 b) { return a - b; }                                         \
  inline T2 __hmul2(T2 a, T2 b) { return a * b; }                                         \
  inline T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
