// What the device headers need of a compiler, in one place: CUDA, HIP, or a plain C++ compiler (the emulator, the
// decoders and the tests). Everything here runs on host and device and gives the same result on both; nothing
// allocates.
#pragma once

#include <stdint.h>
#if defined(__HIPCC__) && !defined(__CUDACC__)
#include <hip/hip_runtime.h>  // hipcc includes nothing by itself
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
#define CAIRN_GPU_BOTH __host__ __device__ __forceinline__
/// Called, not inlined: what is large and seldom needed.
#define CAIRN_GPU_NOT_INLINE __noinline__
/// In front of a loop that is run seldom: not unrolled, since code that is not there needs no cache.
#define CAIRN_GPU_ROLLED _Pragma("unroll 1")
#else
#define CAIRN_GPU_ROLLED
#define CAIRN_GPU_BOTH inline
#define CAIRN_GPU_NOT_INLINE
#endif

namespace cairn::gpu {

/// A bit a lane. The width is a property of the trace: 32 lanes with CUDA, 64 where HIP's wavefronts have them.
#if defined(__HIP_PLATFORM_AMD__)
#if defined(__AMDGCN_WAVEFRONT_SIZE) && __AMDGCN_WAVEFRONT_SIZE != 64
#error "Cairn traces wavefronts of 64 lanes, as gfx9 has; this GPU has others"
#endif
using LaneMask = uint64_t;
#else
using LaneMask = uint32_t;
#endif

CAIRN_GPU_BOTH uint32_t ones(uint32_t mask) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<uint32_t>(__popc(mask));
#else
  return static_cast<uint32_t>(__builtin_popcount(mask));
#endif
}

CAIRN_GPU_BOTH uint32_t ones(uint64_t mask) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<uint32_t>(__popcll(mask));
#else
  return static_cast<uint32_t>(__builtin_popcountll(mask));
#endif
}

/// A load that is done where it stands, from the nearest cache. What was stored on the same multiprocessor is seen.
template <typename T>
CAIRN_GPU_BOTH T look_near(const T &at) {
#if defined(__CUDA_ARCH__)
  static_assert(sizeof(T) == 4, "masks and guesses");
  T value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(&at)) : "memory");
  return value;
#elif defined(__HIP_DEVICE_COMPILE__)
  return *static_cast<const volatile T *>(&at);
#else
  return at;
#endif
}

/// How many bits it takes to write `value`; 0 for 0.
CAIRN_GPU_BOTH uint32_t width_of(uint32_t value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return 32 - static_cast<uint32_t>(__clz(static_cast<int>(value)));
#else
  return value == 0 ? 0 : 32 - static_cast<uint32_t>(__builtin_clz(value));
#endif
}

}  // namespace cairn::gpu
