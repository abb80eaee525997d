// Numbers of bfloat16 under the emulator; see small_floats.h.
#pragma once

#include "small_floats.h"

using __nv_bfloat16 = cairn::emulator::SmallFloat<cairn::emulator::BrainBits>;
using __nv_bfloat162 = cairn::emulator::SmallPair<__nv_bfloat16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
struct __nv_bfloat16_raw {
  unsigned short x;
  operator __nv_bfloat16() const { return __nv_bfloat16::of_bits(x); }  // NOLINT(google-explicit-constructor): CUDA's
};
CAIRN_SMALL_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
inline float __bfloat162float(__nv_bfloat16 value) { return value; }
inline __nv_bfloat16 __float2bfloat16(float value) { return value; }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return value; }
inline __nv_bfloat162 __float2bfloat162_rn(float value) { return {value, value}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 pair) { return {pair.x, pair.y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) { return {value, value}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline float __low2float(__nv_bfloat162 pair) { return pair.x; }
inline float __high2float(__nv_bfloat162 pair) { return pair.y; }
inline float2 __bfloat1622float2(__nv_bfloat162 pair) { return {pair.x, pair.y}; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.__x; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::of_bits(bits); }
