// What kernels and their hosts need of CUDA's language and run-time library, for the emulator: this folder stands in
// front of the include path, and nvcc's `<<<>>>` has become CAIRN_EMULATOR_LAUNCH; the run-time library is in
// cuda_api.h, cooperative groups are in cooperative_groups.h. Without `cairn instrument`, which writes it, what is
// `extern __shared__ T name[]` for nvcc has to be `T *name = cairn::emulator::dynamic_array<T *>()`.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "emulator.h"

#if !defined(CAIRN_GPU_EMULATOR)
#define CAIRN_GPU_EMULATOR
#endif
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ static thread_local
#define __forceinline__ inline
#define __noinline__  // libstdc++ has it as the name of an attribute, too
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__

using uint3 = cairn::emulator::Triple;
struct dim3 : cairn::emulator::Triple {
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : Triple{x_, y_, z_} {}
};
#define threadIdx (::cairn::emulator::place().thread)
#define blockIdx (::cairn::emulator::place().block)
#define blockDim (::cairn::emulator::place().block_dim)
#define gridDim (::cairn::emulator::place().grid_dim)
constexpr int warpSize = 32;

#define CAIRN_VECTORS(T, name, align2, align4)               \
  struct name##1 {                                           \
    T x;                                                     \
  };                                                         \
  struct alignas(align2) name##2 {                           \
    T x, y;                                                  \
  };                                                         \
  struct alignas(align4) name##4 {                           \
    T x, y, z, w;                                            \
  };                                                         \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define CAIRN_VECTOR3(T, name) \
  struct name##3 {             \
    T x, y, z;                 \
  };                           \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
CAIRN_VECTORS(int, int, 8, 16)
CAIRN_VECTORS(unsigned, uint, 8, 16)
CAIRN_VECTORS(float, float, 8, 16)
CAIRN_VECTORS(double, double, 16, 16)
CAIRN_VECTOR3(int, int)
CAIRN_VECTOR3(float, float)
CAIRN_VECTOR3(double, double)
#undef CAIRN_VECTORS
#undef CAIRN_VECTOR3

// Functions of one lane.
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value)); }
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
inline int __clzll(long long value) {
  return value == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(value));
}
inline int __ffsll(long long value) { return __builtin_ffsll(value); }
inline float rsqrtf(float value) { return 1.0f / std::sqrt(value); }
inline float __int_as_float(int value) {
  float out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}
inline int __float_as_int(float value) {
  int out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}
template <typename T>
T __ldg(const T *at) {
  return *at;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { cairn::emulator::pause(); }
using std::max;
using std::min;

// Functions of a warp or a block.
inline void __syncthreads() { cairn::emulator::synchronise_block(); }
inline void __syncwarp(unsigned mask = 0xffffffff) { cairn::emulator::exchange(mask, 0); }
/// The lanes that come to this line of the caller together.
inline unsigned __activemask(unsigned line = __builtin_LINE()) {
  constexpr uint32_t kAfterPoints = 1u << 16;
  return cairn::emulator::converge(kAfterPoints + line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const uint64_t *all = cairn::emulator::exchange(mask, predicate != 0 ? 1 : 0);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane) ballot |= all[lane] != 0 ? 1u << lane : 0;
  return ballot;
}
template <typename T>
unsigned __match_any_sync(unsigned mask, T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  const uint64_t *all = cairn::emulator::exchange(mask, word);
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane) same |= (mask >> lane & 1) != 0 && all[lane] == word ? 1u << lane : 0;
  return same;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0 ? 1 : 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate == 0) == 0 ? 1 : 0; }
template <typename T>
T cairn_exchanged(unsigned mask, T value, unsigned from) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  word = cairn::emulator::exchange(mask, word)[from % 32];
  std::memcpy(&value, &word, sizeof value);
  return value;
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const unsigned lane = cairn::emulator::lane_index();
  const unsigned w = static_cast<unsigned>(width);
  return cairn_exchanged(mask, value, lane / w * w + static_cast<unsigned>(from) % w);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned lane = cairn::emulator::lane_index();
  const unsigned w = static_cast<unsigned>(width);
  return cairn_exchanged(mask, value, lane % w + by < w ? lane + by : lane);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned lane = cairn::emulator::lane_index();
  return cairn_exchanged(mask, value, lane % static_cast<unsigned>(width) >= by ? lane - by : lane);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int with, int = 32) {
  return cairn_exchanged(mask, value, cairn::emulator::lane_index() ^ static_cast<unsigned>(with));
}

template <typename T, typename F>
T cairn_reduced(unsigned mask, T value, F join) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  const uint64_t *all = cairn::emulator::exchange(mask, word);
  bool first = true;
  T result = value;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    T other;
    std::memcpy(&other, &all[lane], sizeof other);
    result = first ? other : join(result, other);
    first = false;
  }
  return result;
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return cairn_reduced(mask, value, [](unsigned a, unsigned b) { return a + b; });
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  return cairn_reduced(mask, value, [](unsigned a, unsigned b) { return std::max(a, b); });
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return cairn_reduced(mask, value, [](unsigned a, unsigned b) { return std::min(a, b); });
}

// Atomics. Lanes run one at a time; where one spins, the others must get their turn.
template <typename T, typename F>
T cairn_atomic(T *at, F change) {
  cairn::emulator::pause();
  const T old = *at;
  *at = change(old);
  return old;
}
template <typename T>
T atomicAdd(T *at, std::type_identity_t<T> by) {
  return cairn_atomic(at, [&](T old) { return static_cast<T>(old + by); });
}
template <typename T>
T atomicSub(T *at, std::type_identity_t<T> by) {
  return cairn_atomic(at, [&](T old) { return static_cast<T>(old - by); });
}
template <typename T>
T atomicMin(T *at, std::type_identity_t<T> with) {
  return cairn_atomic(at, [&](T old) { return std::min(old, with); });
}
template <typename T>
T atomicMax(T *at, std::type_identity_t<T> with) {
  return cairn_atomic(at, [&](T old) { return std::max(old, with); });
}
template <typename T>
T atomicOr(T *at, std::type_identity_t<T> with) {
  return cairn_atomic(at, [&](T old) { return old | with; });
}
template <typename T>
T atomicAnd(T *at, std::type_identity_t<T> with) {
  return cairn_atomic(at, [&](T old) { return old & with; });
}
template <typename T>
T atomicXor(T *at, std::type_identity_t<T> with) {
  return cairn_atomic(at, [&](T old) { return old ^ with; });
}
template <typename T>
T atomicExch(T *at, std::type_identity_t<T> value) {
  return cairn_atomic(at, [&](T) { return value; });
}
template <typename T>
T atomicCAS(T *at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return cairn_atomic(at, [&](T old) { return old == expected ? value : old; });
}

#include "cuda_api.h"

namespace cairn::emulator {

/// What `extern __shared__` names: as a reference to an array, or as a pointer.
template <typename T>
T dynamic_array() {
  if constexpr (std::is_reference_v<T>) {
    return reinterpret_cast<T>(*static_cast<char *>(dynamic_shared()));
  } else {
    return static_cast<T>(dynamic_shared());
  }
}

/// A launch whose arguments, evaluated once, are each thread's to copy.
template <typename Kernel, typename... Arguments>
void launch_kernel(Kernel kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t /*stream*/,
                   Arguments &&...arguments) {
  launch({grid, block, shared}, [&] { kernel(arguments...); });
}

}  // namespace cairn::emulator

#define CAIRN_UNWRAPPED(...) __VA_ARGS__
#define CAIRN_EMULATOR_LAUNCH(kernel, grid, block, shared, stream, ...)                                         \
  ::cairn::emulator::launch_kernel([&](auto &...cairn_argument) { CAIRN_UNWRAPPED kernel(cairn_argument...); }, \
                                   dim3 grid, dim3 block, size_t shared,                                        \
                                   cudaStream_t stream __VA_OPT__(, ) __VA_ARGS__)
