// A launch's memory under the emulator: the host's. Launches have ended when they return.
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "cairn/gpu/device.h"
#include "cairn/gpu/drain_host.h"
#include "cairn/gpu/gather.h"
#include "cairn/gpu/library.h"
#include "cairn/gpu/settings.h"

namespace cairn::gpu {

using Stream = cudaStream_t;

struct Memory {
  Buffers buffers{};
  cairn_gpu_launch what{};
  std::vector<TracedWarp> warps;
  std::vector<WarpValues<LaneMask>> values;
  std::unique_ptr<uint32_t[]> words;  ///< what is not written costs nothing
  uint32_t word_room = 0;
  std::vector<DrainSlot> slots;
  uint32_t consumed = 0;
  DrainEnd drain;
  [[nodiscard]] Trace trace() { return {&buffers}; }
};

inline Memory *take_memory(Buffers &buffers, bool values, const cairn_gpu_launch &what, Stream) {
  static const int registered = std::atexit([] { library()->write(); });
  (void)registered;
  // One launch at a time on a thread. Not thread-local itself: kernels' shared memory is (emulator.h).
  static thread_local const auto kept = std::make_unique<Memory>();
  Memory &memory = *kept;
  memory.what = what;
  (void)cudaGetDevice(reinterpret_cast<int *>(&memory.what.device));
  memory.warps.assign(buffers.warp_count, TracedWarp{});
  uint64_t words = buffers.capacity;
  if (words == 0) words = (settings().memory == 0 ? uint64_t{256} << 20 : settings().memory) / sizeof(uint32_t);
  if (words > kMostWords) words = kMostWords;
  if (memory.word_room < words) {
    memory.words.reset(new uint32_t[words]);
    memory.word_room = static_cast<uint32_t>(words);
  }
  give_words(buffers, memory.words.get(), static_cast<uint32_t>(words));
  memory.buffers = buffers;
  memory.buffers.warps = memory.warps.data();
  if (values) memory.values.resize(buffers.warp_count);
  if (values) memory.buffers.values = memory.values.data();
  if (buffers.drain.count != 0) {
    memory.slots.resize(buffers.drain.count);
    memory.drain.begin(memory.slots.data(), &memory.consumed, buffers.drain.count, buffers.warp_count);
    memory.buffers.drain = memory.drain.ring(memory.slots.data(), &memory.consumed);
    Drainer::one().begin(&memory.drain);
  }
  return &memory;
}

inline void collect(Memory *memory, Stream) {
  std::vector<WarpRecord> records(memory->warps.size());
  std::vector<uint32_t> gathered;
  for (size_t i = 0; i < records.size(); ++i) {
    finish_warp(memory->warps[i], records[i]);
    gathered.resize(memory->buffers.gathered);
    place_words(memory->warps[i], records[i], gathered.data(), 0, 1);
  }
  if (!memory->slots.empty()) {
    Drainer::one().end(&memory->drain);
    gathered = memory->drain.join(gathered, records.data());
  }
  static_assert(sizeof(WarpRecord) == sizeof(cairn_gpu_warp));
  memory->what.warps = reinterpret_cast<const cairn_gpu_warp *>(records.data());
  memory->what.warp_count = static_cast<uint32_t>(records.size());
  memory->what.words = gathered.data();
  memory->what.word_count = gathered.size();
  library()->collect(&memory->what);
}

}  // namespace cairn::gpu
