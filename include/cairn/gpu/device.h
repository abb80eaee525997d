// What a trace point does in a kernel: CUDA, HIP, or the emulator.
//
// The kernel's begin gives each warp its place, or none, in shared memory; a point looks there (a predicate, where the
// warp is not traced), agrees on who is here, and lets one lane record it. Since Volta the parts of a warp that has
// diverged run independently and may be in a point at the same time: a lock keeps them apart, unless all lanes are
// here.
//
// Cost of a point whose event was predicted: some 40 instructions of one lane, and three cache lines that stay in L1.
#pragma once

#include "predict.h"
#include "raw.h"
#include "stream.h"
#include "thesis.h"

#if defined(CAIRN_GPU_EMULATOR)
#include <cuda_runtime.h>
#endif

#if defined(CAIRN_GPU_CODER_RAW)
#define CAIRN_GPU_CODER ::cairn::gpu::Raw
#elif defined(CAIRN_GPU_CODER_THESIS)
#define CAIRN_GPU_CODER ::cairn::gpu::Thesis
#else
#define CAIRN_GPU_CODER ::cairn::gpu::Predict
#endif

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(CAIRN_GPU_EMULATOR)

namespace cairn::gpu {

using Coder = CAIRN_GPU_CODER<LaneMask>;
using TracedWarp = Warp<Coder>;

#if defined(CAIRN_GPU_EMULATOR)
inline LaneMask lanes_here(uint32_t location) { return emulator::converge(location); }
inline uint32_t lane_of_thread() { return emulator::lane_index(); }
inline LaneMask lanes_for(LaneMask here, bool condition) { return __ballot_sync(here, condition ? 1 : 0); }
inline void stay_together(LaneMask) {}
inline void lock(uint32_t &) {}
inline void unlock(uint32_t &) {}
constexpr uint32_t kLanes = 32;
#elif defined(__HIP_PLATFORM_AMD__)
__device__ inline LaneMask lanes_here(uint32_t) { return __ballot(1); }
__device__ inline uint32_t lane_of_thread() { return __lane_id(); }
__device__ inline LaneMask lanes_for(LaneMask, bool condition) { return __ballot(condition); }
__device__ inline void stay_together(LaneMask) {}
// A wavefront runs in lockstep: its parts are never in a point at once.
__device__ inline void lock(uint32_t &) {}
__device__ inline void unlock(uint32_t &) {}
constexpr uint32_t kLanes = 64;
#else
__device__ inline LaneMask lanes_here(uint32_t) { return __activemask(); }
__device__ inline uint32_t lane_of_thread() {
  uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ inline LaneMask lanes_for(LaneMask here, bool condition) { return __ballot_sync(here, condition); }
__device__ inline void stay_together(LaneMask mask) { __syncwarp(mask); }
__device__ inline void lock(uint32_t &word) {
  while (atomicCAS(&word, 0u, 1u) != 0) __nanosleep(32);
  __threadfence_block();
}
__device__ inline void unlock(uint32_t &word) {
  __threadfence_block();
  atomicExch(&word, 0u);
}
constexpr uint32_t kLanes = 32;
#endif

/// The places of a block's warps. One object for all functions of a program.
__device__ inline TracedWarp **block_warps() {
  __shared__ TracedWarp *warps[1024 / kLanes];
  return warps;
}

__device__ inline uint32_t thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/// Begins the calling thread's warp; all its lanes are here. To be called first in every kernel from which points can
/// be reached, with an empty Trace too.
__device__ inline void begin_kernel(const Trace &trace) {
  const LaneMask all = lanes_here(0);
  const uint32_t thread = thread_in_block();
  const uint32_t lane = ones(all & ((LaneMask{1} << lane_of_thread()) - 1));
  Buffers *buffers = trace.buffers;
  TracedWarp *warp = nullptr;
  if (buffers != nullptr) {
    const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const uint32_t index = (block - buffers->first_block) * buffers->warps_per_block + thread / kLanes;
    if (block >= buffers->first_block && block < buffers->end_block && index % buffers->one_in == 0) {
      warp = static_cast<TracedWarp *>(buffers->warps) + index / buffers->one_in;
      begin_warp(*warp, buffers, block * buffers->warps_per_block + thread / kLanes, all, lane, ones(all));
    }
  }
  if (lane == 0) block_warps()[thread / kLanes] = warp;
  stay_together(all);
}

/// One lane records for all that are in a point together.
__device__ inline bool leads(LaneMask here) { return (here & ((LaneMask{1} << lane_of_thread()) - 1)) == 0; }

/// Keeps the other parts of a warp that has diverged out of its state while one lane records.
class Recording {
 public:
  __device__ Recording(TracedWarp &warp, LaneMask here) : warp_(warp), diverged_(here != warp.head.all) {
    if (diverged_) lock(warp_.head.lock);
  }
  __device__ ~Recording() {
    if (diverged_) unlock(warp_.head.lock);
  }
  Recording(const Recording &) = delete;
  Recording &operator=(const Recording &) = delete;

 private:
  TracedWarp &warp_;
  bool diverged_;
};

/// On the host, where functions for both sides run as well, nothing.
__host__ __device__ inline void point(uint32_t location) {
#if defined(CAIRN_GPU_EMULATOR) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#if defined(CAIRN_GPU_EMULATOR)
  if (!emulator::in_kernel()) return;
#endif
  TracedWarp *warp = block_warps()[thread_in_block() / kLanes];
  if (warp == nullptr) return;
  const LaneMask here = lanes_here(location);
  if (leads(here)) {
    const Recording recording(*warp, here);
    record_event(*warp, location, here);
  }
  stay_together(here);
#else
  (void)location;
#endif
}

/// Records who asks, and at the next location who of them goes in; gives `condition`.
__host__ __device__ inline bool branch(uint32_t location, bool condition) {
#if defined(CAIRN_GPU_EMULATOR) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#if defined(CAIRN_GPU_EMULATOR)
  if (!emulator::in_kernel()) return condition;
#endif
  TracedWarp *warp = block_warps()[thread_in_block() / kLanes];
  if (warp == nullptr) return condition;
  const LaneMask here = lanes_here(location);
  const LaneMask taken = lanes_for(here, condition);
  if (leads(here)) {
    const Recording recording(*warp, here);
    record_event(*warp, location, here);
    record_event(*warp, location + 1, taken);
  }
  stay_together(here);
#else
  (void)location;
#endif
  return condition;
}

}  // namespace cairn::gpu

#endif
