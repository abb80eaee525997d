// Half-precision numbers under the emulator; see small_floats.h.
#pragma once

#include "small_floats.h"

using __half = cairn::emulator::SmallFloat<cairn::emulator::HalfBits>;
using __half2 = cairn::emulator::SmallPair<__half>;
using half = __half;
using half2 = __half2;
CAIRN_SMALL_FUNCTIONS(__half, __half2)
inline float __half2float(__half value) { return value; }
inline __half __float2half(float value) { return value; }
inline __half __float2half_rn(float value) { return value; }
inline __half2 __float2half2_rn(float value) { return {value, value}; }
inline __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
inline __half2 __float22half2_rn(float2 pair) { return {pair.x, pair.y}; }
inline __half2 __half2half2(__half value) { return {value, value}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half __low2half(__half2 pair) { return pair.x; }
inline __half __high2half(__half2 pair) { return pair.y; }
inline float __low2float(__half2 pair) { return pair.x; }
inline float __high2float(__half2 pair) { return pair.y; }
inline float2 __half22float2(__half2 pair) { return {pair.x, pair.y}; }
inline __half __int2half_rn(int value) { return value; }
inline int __half2int_rn(__half value) { return __float2int_rn(value); }
inline unsigned short __half_as_ushort(__half value) { return value.__x; }
inline __half __ushort_as_half(unsigned short bits) { return __half::of_bits(bits); }
