// When and where a warp ran, as the multiprocessor says that it runs on: for launches that are traced with clocks
// (settings.h). One lane stores it as the warp begins, and one of those that leave the kernel together as they do; what
// the last of them stores stays. On a device only.
#pragma once

#include "bits.h"
#include "collect.h"

#if defined(CAIRN_GPU_EMULATOR)
#include <cuda_runtime.h>
#endif

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(CAIRN_GPU_EMULATOR)

namespace cairn::gpu {

#if defined(CAIRN_GPU_EMULATOR)
inline uint64_t cycles_now() { return emulator::cycles(); }
inline uint32_t this_processor() { return emulator::processor(); }
#elif defined(__HIP_PLATFORM_AMD__)
__device__ inline uint64_t cycles_now() { return static_cast<uint64_t>(__builtin_readcyclecounter()); }
/// A compute unit, by its place in its shader engine: fields of the register HW_ID of GCN and CDNA.
__device__ inline uint32_t this_processor() {
  constexpr int kHardwareId = 4;
  const uint32_t unit = __builtin_amdgcn_s_getreg((4 - 1) << 11 | 8 << 6 | kHardwareId);
  const uint32_t engine = __builtin_amdgcn_s_getreg((3 - 1) << 11 | 13 << 6 | kHardwareId);
  return engine << 4 | unit;
}
#else
__device__ inline uint64_t cycles_now() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
  return now;
}
__device__ inline uint32_t this_processor() {
  uint32_t number;
  asm("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}
#endif

__device__ inline void begin_clock(cairn_gpu_clock &clock) {
  clock.processor = this_processor();
  clock.told = 1;
  clock.begin = cycles_now();
}
__device__ inline void end_clock(cairn_gpu_clock &clock) {
  clock.end = cycles_now();
  clock.told = 2;
}

}  // namespace cairn::gpu

#endif
