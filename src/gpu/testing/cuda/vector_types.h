// CUDA's vector types, for the emulator, with its alignment; `uint3` is what threadIdx is.
#pragma once

#include "emulator.h"

#define CAIRN_VECTORS(T, name, align2, align4)                  \
  struct name##1 {                                              \
    T x;                                                        \
  };                                                            \
  struct alignas(align2) name##2 {                              \
    T x, y;                                                     \
  };                                                            \
  struct alignas(align4) name##4 {                              \
    T x, y, z, w;                                               \
  };                                                            \
  constexpr name##1 make_##name##1(T x) { return {x}; }         \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define CAIRN_VECTOR3(T, name) \
  struct name##3 {             \
    T x, y, z;                 \
  };                           \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
CAIRN_VECTORS(signed char, char, 2, 4)
CAIRN_VECTORS(unsigned char, uchar, 2, 4)
CAIRN_VECTORS(short, short, 4, 8)
CAIRN_VECTORS(unsigned short, ushort, 4, 8)
CAIRN_VECTORS(int, int, 8, 16)
CAIRN_VECTORS(unsigned, uint, 8, 16)
CAIRN_VECTORS(long, long, 16, 16)
CAIRN_VECTORS(unsigned long, ulong, 16, 16)
CAIRN_VECTORS(long long, longlong, 16, 16)
CAIRN_VECTORS(unsigned long long, ulonglong, 16, 16)
CAIRN_VECTORS(float, float, 8, 16)
CAIRN_VECTORS(double, double, 16, 16)
CAIRN_VECTOR3(signed char, char)
CAIRN_VECTOR3(unsigned char, uchar)
CAIRN_VECTOR3(short, short)
CAIRN_VECTOR3(unsigned short, ushort)
CAIRN_VECTOR3(int, int)
CAIRN_VECTOR3(long, long)
CAIRN_VECTOR3(unsigned long, ulong)
CAIRN_VECTOR3(long long, longlong)
CAIRN_VECTOR3(unsigned long long, ulonglong)
CAIRN_VECTOR3(float, float)
CAIRN_VECTOR3(double, double)
#undef CAIRN_VECTORS
#undef CAIRN_VECTOR3
using uint3 = cairn::emulator::Triple;
constexpr uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

struct dim3 : cairn::emulator::Triple {
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : Triple{x_, y_, z_} {}
  constexpr dim3(const Triple &of) : Triple(of) {}  // NOLINT(google-explicit-constructor): CUDA's converts
};
