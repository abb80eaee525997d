// What one lane computes by itself, for the emulator: CUDA's integer, conversion and arithmetic intrinsics. Rounding is
// to nearest but where a name says otherwise and the result is an integer; the fast functions are the exact ones.
#pragma once

#include <math.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "vector_types.h"

// Bits.
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value)); }
inline int __clzll(long long value) {
  return value == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(value));
}
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }
inline unsigned long long __brevll(unsigned long long value) {
  unsigned long long out = 0;
  for (int i = 0; i < 64; ++i) out = out << 1 | (value >> i & 1);
  return out;
}
inline unsigned __brev(unsigned value) { return static_cast<unsigned>(__brevll(value) >> 32); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) << (by % 32) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (by % 32));
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned chosen) {
  const uint64_t bytes = uint64_t{high} << 32 | low;
  unsigned out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto byte = static_cast<unsigned>(bytes >> (chosen >> 4 * i & 7) * 8 & 0xff);
    out |= ((chosen >> 4 * i & 8) != 0 ? (byte >> 7) * 0xff : byte) << 8 * i;
  }
  return out;
}

// Integers.
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) { return static_cast<int>(int64_t{a} * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(uint64_t{a} * b >> 32); }
__extension__ inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
__extension__ inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline int __hadd(int a, int b) { return static_cast<int>((int64_t{a} + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((int64_t{a} + b + 1) >> 1); }
inline unsigned __sad(int a, int b, unsigned sum) {
  return sum + static_cast<unsigned>(a > b ? int64_t{a} - b : int64_t{b} - a);
}
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a > b ? a - b : b - a); }
template <typename T>
T cairn_dot_of_bytes(unsigned a, unsigned b, T sum) {
  using Byte = std::conditional_t<std::is_signed_v<T>, int8_t, uint8_t>;
  for (unsigned i = 0; i < 32; i += 8) sum += static_cast<T>(static_cast<Byte>(a >> i)) * static_cast<Byte>(b >> i);
  return sum;
}
inline int __dp4a(int a, int b, int sum) {
  return cairn_dot_of_bytes(static_cast<unsigned>(a), static_cast<unsigned>(b), sum);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) { return cairn_dot_of_bytes(a, b, sum); }

// The same bits as another type.
#define CAIRN_SAME_BITS(name, To, From) \
  inline To name(From value) { return std::bit_cast<To>(value); }
CAIRN_SAME_BITS(__int_as_float, float, int)
CAIRN_SAME_BITS(__uint_as_float, float, unsigned)
CAIRN_SAME_BITS(__float_as_int, int, float)
CAIRN_SAME_BITS(__float_as_uint, unsigned, float)
CAIRN_SAME_BITS(__longlong_as_double, double, long long)
CAIRN_SAME_BITS(__double_as_longlong, long long, double)
#undef CAIRN_SAME_BITS
inline int __double2loint(double value) { return static_cast<int>(std::bit_cast<uint64_t>(value)); }
inline int __double2hiint(double value) { return static_cast<int>(std::bit_cast<uint64_t>(value) >> 32); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(uint64_t{static_cast<unsigned>(high)} << 32 | static_cast<unsigned>(low));
}

/// To an integer as the device does it: what does not fit becomes the nearest that does, a NaN 0.
template <typename To, typename From>
To cairn_clamped(From value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}
#define CAIRN_TO_INTEGER(from, From, to, To)                                                      \
  inline To __##from##2##to##_rn(From value) { return cairn_clamped<To>(std::nearbyint(value)); } \
  inline To __##from##2##to##_rz(From value) { return cairn_clamped<To>(std::trunc(value)); }     \
  inline To __##from##2##to##_rd(From value) { return cairn_clamped<To>(std::floor(value)); }     \
  inline To __##from##2##to##_ru(From value) { return cairn_clamped<To>(std::ceil(value)); }
#define CAIRN_CONVERSIONS(name, T)                                                \
  CAIRN_TO_INTEGER(float, float, name, T)                                         \
  CAIRN_TO_INTEGER(double, double, name, T)                                       \
  inline float __##name##2float_rn(T value) { return static_cast<float>(value); } \
  inline double __##name##2double_rn(T value) { return static_cast<double>(value); }
CAIRN_CONVERSIONS(int, int)
CAIRN_CONVERSIONS(uint, unsigned)
CAIRN_CONVERSIONS(ll, long long)
CAIRN_CONVERSIONS(ull, unsigned long long)
#undef CAIRN_CONVERSIONS
#undef CAIRN_TO_INTEGER
inline float __double2float_rn(double value) { return static_cast<float>(value); }

// Real numbers.
#define CAIRN_ARITHMETIC(letter, T, fused)                   \
  inline T __##letter##add_rn(T a, T b) { return a + b; }    \
  inline T __##letter##sub_rn(T a, T b) { return a - b; }    \
  inline T __##letter##mul_rn(T a, T b) { return a * b; }    \
  inline T __##letter##div_rn(T a, T b) { return a / b; }    \
  inline T __##letter##sqrt_rn(T a) { return std::sqrt(a); } \
  inline T __##letter##rcp_rn(T a) { return 1 / a; }         \
  inline T fused(T a, T b, T c) { return std::fma(a, b, c); }
CAIRN_ARITHMETIC(f, float, __fmaf_rn)
CAIRN_ARITHMETIC(d, double, __fma_rn)
#undef CAIRN_ARITHMETIC
inline float rsqrtf(float value) { return 1.0f / std::sqrt(value); }
inline double rsqrt(double value) { return 1.0 / std::sqrt(value); }
inline float __frsqrt_rn(float value) { return rsqrtf(value); }
inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline float __saturatef(float value) { return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f; }
inline float saturate(float value) { return __saturatef(value); }
#define CAIRN_FAST(name) \
  inline float __##name##f(float value) { return std::name(value); }
CAIRN_FAST(exp)
CAIRN_FAST(log)
CAIRN_FAST(log2)
CAIRN_FAST(log10)
CAIRN_FAST(sin)
CAIRN_FAST(cos)
CAIRN_FAST(tan)
#undef CAIRN_FAST
inline float __powf(float base, float by) { return std::pow(base, by); }
inline float __exp10f(float value) { return std::pow(10.0f, value); }
inline void __sincosf(float value, float *sine, float *cosine) {
  *sine = std::sin(value);
  *cosine = std::cos(value);
}
namespace cairn::emulator {
constexpr double kPi = 3.14159265358979323846;
}
inline double sinpi(double value) { return std::sin(value * cairn::emulator::kPi); }
inline double cospi(double value) { return std::cos(value * cairn::emulator::kPi); }
inline float sinpif(float value) { return static_cast<float>(sinpi(value)); }
inline float cospif(float value) { return static_cast<float>(cospi(value)); }
inline double normcdf(double value) { return 0.5 * std::erfc(-value * 0.70710678118654752440); }
inline float normcdff(float value) { return static_cast<float>(normcdf(value)); }
inline float norm3df(float a, float b, float c) { return std::sqrt(a * a + b * b + c * c); }
inline double norm3d(double a, double b, double c) { return std::sqrt(a * a + b * b + c * c); }

// As CUDA mixes them; of equal types they are the library's.
using std::max;
using std::min;
#define CAIRN_MIXED(R, A, B)                                                        \
  inline R min(A a, B b) { return std::min(static_cast<R>(a), static_cast<R>(b)); } \
  inline R max(A a, B b) { return std::max(static_cast<R>(a), static_cast<R>(b)); }
CAIRN_MIXED(unsigned, int, unsigned)
CAIRN_MIXED(unsigned, unsigned, int)
CAIRN_MIXED(unsigned long, long, unsigned long)
CAIRN_MIXED(unsigned long, unsigned long, long)
CAIRN_MIXED(unsigned long long, long long, unsigned long long)
CAIRN_MIXED(unsigned long long, unsigned long long, long long)
CAIRN_MIXED(double, float, double)
CAIRN_MIXED(double, double, float)
#undef CAIRN_MIXED
inline unsigned umin(unsigned a, unsigned b) { return std::min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return std::max(a, b); }

// Memory, with a hint for caches that are not there.
#define CAIRN_LOAD(name) \
  template <typename T>  \
  T name(const T *at) {  \
    return *at;          \
  }
#define CAIRN_STORE(name)                           \
  template <typename T>                             \
  void name(T *at, std::type_identity_t<T> value) { \
    *at = value;                                    \
  }
CAIRN_LOAD(__ldg)
CAIRN_LOAD(__ldca)
CAIRN_LOAD(__ldcg)
CAIRN_LOAD(__ldcs)
CAIRN_LOAD(__ldcv)
CAIRN_LOAD(__ldlu)
CAIRN_STORE(__stcg)
CAIRN_STORE(__stcs)
CAIRN_STORE(__stwb)
CAIRN_STORE(__stwt)
#undef CAIRN_LOAD
#undef CAIRN_STORE
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { cairn::emulator::pause(); }
inline void __trap() {
  if (!cairn::emulator::in_kernel()) __builtin_trap();
  cairn::emulator::trap();
}
/// Nanoseconds of the host for which the lane's multiprocessor has run.
inline long long clock64() {
  cairn::emulator::pause();
  return static_cast<long long>(cairn::emulator::cycles());
}
