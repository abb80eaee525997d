// What kernels and their hosts need of CUDA's language and run-time library, for the emulator: this folder stands in
// front of the include path, and nvcc's `<<<>>>` has become CAIRN_EMULATOR_LAUNCH. Memory is the host's; streams are
// one; errors don't happen.
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
#define __noinline__  // the C++ library's own headers say __attribute__((__noinline__)), which must stay one
#define __launch_bounds__(...)

using uint3 = cairn::emulator::Triple;
struct dim3 : cairn::emulator::Triple {
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : Triple{x_, y_, z_} {}
};
#define threadIdx (::cairn::emulator::place().thread)
#define blockIdx (::cairn::emulator::place().block)
#define blockDim (::cairn::emulator::place().block_dim)
#define gridDim (::cairn::emulator::place().grid_dim)
#define warpSize 32

struct int2 {
  int x, y;
};
struct alignas(16) double2 {
  double x, y;
};
struct float2 {
  float x, y;
};
struct float3 {
  float x, y, z;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline int2 make_int2(int x, int y) { return {x, y}; }

// Functions of one lane.
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value)); }
inline int __ffs(int value) { return __builtin_ffs(value); }
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
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const uint64_t *all = cairn::emulator::exchange(mask, predicate != 0 ? 1 : 0);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane) ballot |= all[lane] != 0 ? 1u << lane : 0;
  return ballot;
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
T atomicExch(T *at, std::type_identity_t<T> value) {
  return cairn_atomic(at, [&](T) { return value; });
}
template <typename T>
T atomicCAS(T *at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return cairn_atomic(at, [&](T old) { return old == expected ? value : old; });
}

// The run-time library.
using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;
using cudaStream_t = void *;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
inline const char *cudaGetErrorString(cudaError_t) { return "no error"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
template <typename T>
cudaError_t cudaMalloc(T **at, size_t size) {
  *at = static_cast<T *>(std::calloc(1, size == 0 ? 1 : size));
  return *at == nullptr ? 2 : cudaSuccess;
}
template <typename T>
cudaError_t cudaMallocManaged(T **at, size_t size) {
  return cudaMalloc(at, size);
}
inline cudaError_t cudaFree(void *at) {
  std::free(at);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind) {
  std::memcpy(to, from, size);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, size, kind);
}
inline cudaError_t cudaMemset(void *at, int value, size_t size) {
  std::memset(at, value, size);
  return cudaSuccess;
}
template <typename T>
cudaError_t cudaMemcpyToSymbol(T &to, const void *from, size_t size) {
  std::memcpy(&to, from, size);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}

namespace cairn::emulator {

/// A launch whose arguments, evaluated once, are each thread's to copy.
template <typename Kernel, typename... Arguments>
void launch_kernel(Kernel kernel, dim3 grid, dim3 block, size_t /*shared*/, cudaStream_t /*stream*/,
                   Arguments &&...arguments) {
  launch(grid, block, [&] { kernel(arguments...); });
}

}  // namespace cairn::emulator

#define CAIRN_UNWRAPPED(...) __VA_ARGS__
#define CAIRN_EMULATOR_LAUNCH(kernel, grid, block, shared, stream, ...)                                         \
  ::cairn::emulator::launch_kernel([&](auto &...cairn_argument) { CAIRN_UNWRAPPED kernel(cairn_argument...); }, \
                                   dim3 grid, dim3 block, size_t shared,                                        \
                                   cudaStream_t stream __VA_OPT__(, ) __VA_ARGS__)
