// What a trace point does in a kernel: CUDA, HIP, or the emulator.
//
// The kernel's begin gives each warp its place, or none, in shared memory; a point looks there (a predicate, where the
// warp is not traced), agrees on who is here, and lets one lane record it. Since Volta the parts of a warp that has
// diverged run independently and may be in a point at the same time: a lock keeps them apart, unless all lanes are
// here.
//
// One lane records for all: a stream a lane would be 32 times the state, and would not say who was together. Who is
// here is asked for (`__activemask`) and not brought together: waiting for the others of a warp at each point could
// hang a program that does not, and would change what is traced.
//
// Cost of a point whose event was predicted: some 40 instructions of one lane, and three cache lines that stay in L1.
#pragma once

#include <string.h>

#include <type_traits>

#include "predict.h"
#include "raw.h"
#include "stream.h"

#if defined(CAIRN_GPU_EMULATOR)
#include <cuda_runtime.h>
#endif

#if defined(CAIRN_GPU_CODER_RAW)
#define CAIRN_GPU_CODER ::cairn::gpu::Raw
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
inline void see_values(LaneMask) {}  // lanes come to a point one after another
inline void lock(uint32_t &) {}
inline void unlock(uint32_t &) {}
constexpr uint32_t kLanes = 32;
#elif defined(__HIP_PLATFORM_AMD__)
__device__ inline LaneMask lanes_here(uint32_t) { return __ballot(1); }
__device__ inline uint32_t lane_of_thread() { return __lane_id(); }
__device__ inline LaneMask lanes_for(LaneMask, bool condition) { return __ballot(condition); }
__device__ inline void stay_together(LaneMask) {}
__device__ inline void see_values(LaneMask) { __threadfence_block(); }
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
/// What each of `mask` has written before is seen by all of them.
__device__ inline void see_values(LaneMask mask) { __syncwarp(mask); }
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

/// A value as its bits, in 32 or 64 of them.
template <typename T>
CAIRN_GPU_BOTH uint64_t value_bits(const T &value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uint64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "float or double");
    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "a value is a number, an enumerator or a pointer");
    const auto bits = static_cast<uint64_t>(value);
    return sizeof(T) == 8 ? bits : static_cast<uint32_t>(bits);
  }
}
template <typename T>
constexpr ValueType kValueType = std::is_floating_point_v<T> ? (sizeof(T) == 8 ? ValueType::f64 : ValueType::f32)
                                 : std::is_integral_v<T> &&std::is_signed_v<T>
                                     ? (sizeof(T) == 8 ? ValueType::i64 : ValueType::i32)
                                     : (sizeof(T) == 8 ? ValueType::u64 : ValueType::u32);

/// As `point`, with a value of each lane; gives `value`. The program's table must have the location as Kind::value.
template <typename T>
__host__ __device__ inline T value_point(uint32_t location, T value) {
#if defined(CAIRN_GPU_EMULATOR) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#if defined(CAIRN_GPU_EMULATOR)
  if (!emulator::in_kernel()) return value;
#endif
  TracedWarp *warp = block_warps()[thread_in_block() / kLanes];
  if (warp == nullptr) return value;
  WarpValues<LaneMask> *values = values_of(*warp);
  if (values == nullptr) {
    point(location);
    return value;
  }
  values->lane[lane_of_thread()] = value_bits(value);
  const LaneMask here = lanes_here(location);
  see_values(here);
  if (leads(here)) {
    const Recording recording(*warp, here);
    record_value_event(*warp, location, here, kValueType<T>);
  }
  stay_together(here);
#else
  (void)location;
#endif
  return value;
}

}  // namespace cairn::gpu

#endif
