// Accesses: how well the lanes of a warp share what memory moves for them, of programs that were instrumented with
// points at loads, stores and atomics (cairn/gpu/access.h).
//
// An event at such a point is a *request* of a warp. Global memory moves sectors of 32 bytes: lanes that touch the same
// sector share it. Shared memory has 32 banks of 4 bytes, each of which gives one word at a time: a request takes as
// many *wavefronts* as the bank has different words that has the most; lanes with more than 4 bytes each come in parts
// of a warp (of 8 bytes in halves, of 16 in quarters), larger ones word by word. (NVIDIA, CUDA C++ Programming Guide,
// "Device Memory Accesses" and "Shared Memory"; a GPU's caches are not looked at.)
//
// Each distinct stream is decoded once. Const after it was made; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/result.h"
#include "cairn/gpu/access.h"
#include "gpu/file/launches.h"

namespace cairn::analyze {

/// What all requests of one point in one kernel to one memory came to.
struct AccessUse {
  uint32_t program = 0;
  uint32_t kernel = 0;
  uint16_t location = 0;
  gpu::Space space = gpu::Space::global;
  uint64_t requests = 0;
  uint64_t lanes = 0;  ///< summed over requests
  uint64_t bytes = 0;  ///< that lanes touched; what several of one request touch counts once
  uint64_t moved = 0;  ///< sectors, in global memory; wavefronts, in shared memory
  uint64_t least = 0;  ///< of these, if the same bytes lay next to each other, and began where a sector does
  uint64_t most = 0;   ///< of these in one request
  /// By how many bytes the address of a lane is behind that of the lane before, which need not be its neighbour, for as
  /// many pairs of lanes; at most kSteps different ones, those that were seen first.
  std::map<int64_t, uint64_t> steps;
  uint64_t other_steps = 0;
  static constexpr size_t kSteps = 64;

  [[nodiscard]] double mean() const;        ///< moved, a request
  [[nodiscard]] double efficiency() const;  ///< least of moved, 0 to 1
  [[nodiscard]] uint64_t excess() const { return moved - least; }
  void add(const AccessUse &other, uint64_t times);
};

/// What one request takes; `touched` has the accesses of its lanes, the lowest lane first, all to one memory, and
/// `lane` their numbers.
AccessUse request_of(std::span<const gpu::Access> touched, std::span<const uint8_t> lane);

/// By program, kernel, location and memory; of the local and other memory there are only the numbers of requests, lanes
/// and bytes. Empty if the programs have no such points, or nobody came to one.
Result<std::vector<AccessUse>> gpu_accesses(const gpu::Launches &launches);

}  // namespace cairn::analyze
