// Kernels of ours around a traced launch: one makes its tables, one finishes its warps' streams, one places their words
// one after another (memory_device.h says when). They look at nothing but what they are given. In each file of a
// program its own.
#pragma once

#include <cstdint>

#include "device.h"
#include "gather.h"
#include "runtime.h"

namespace cairn::gpu {

/// Threads of their blocks.
constexpr uint32_t kThreads = 128;
inline uint32_t blocks_for(uint32_t threads) { return (threads + kThreads - 1) / kThreads; }

/// Makes a launch's tables, from what it is given by value.
static __global__ void cairn_begin(Buffers made, Buffers *buffers) {
  const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at == 0) *buffers = made;
  if (at >= made.warp_count) return;
  static_cast<TracedWarp *>(made.warps)[at].head = {};
  if (made.clocks != nullptr) made.clocks[at] = {};
}
/// A thread for each warp.
static __global__ void cairn_finish(TracedWarp *warps, WarpRecord *records, uint32_t count) {
  const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) finish_warp(warps[at], records[at]);
}
/// As many lanes for each warp as it has.
static __global__ void cairn_place(const TracedWarp *warps, const WarpRecord *records, uint32_t count, uint32_t *out) {
  const uint32_t at = blockIdx.x * (blockDim.x / kLanes) + threadIdx.x / kLanes;
  if (at < count) place_words(warps[at], records[at], out, threadIdx.x % kLanes, kLanes);
}

}  // namespace cairn::gpu
