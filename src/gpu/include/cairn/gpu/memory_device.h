// A launch's memory on a GPU (CUDA, HIP), and how what is in it comes to the host.
//
// A Memory belongs to one launch at a time. When the launch's object goes, the gathering kernel and the copies of the
// small tables are queued behind the launch on its stream, and our thread waits for them: it knows then how many words
// there are, fetches just those on a stream of its own, hands them to the library and puts the Memory back. Where
// streams are drained, most words are here by then (drain_host.h). Device memory is kept for later launches of the same
// size class. At exit the thread is waited for. Host only.
#pragma once

#if defined(__HIPCC__) && !defined(__CUDACC__)
#include <hip/hip_runtime.h>
#define CAIRN_RT(name) hip##name
#else
#include <cuda_runtime.h>
#define CAIRN_RT(name) cuda##name
#endif

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "device.h"
#include "drain_host.h"
#include "library.h"

namespace cairn::gpu {

using Stream = CAIRN_RT(Stream_t);

struct Memory {
  int device = 0;
  uint64_t warp_room = 0;  ///< warps
  uint64_t word_room = 0;
  Buffers *buffers = nullptr;              ///< on the device
  TracedWarp *warps = nullptr;             ///< on the device
  WarpValues<LaneMask> *values = nullptr;  ///< on the device, if the program has values
  uint32_t *words = nullptr;               ///< on the device
  uint32_t *gathered = nullptr;            ///< on the device
  WarpRecord *records = nullptr;           ///< on the device
  Buffers *host_buffers = nullptr;         ///< pinned
  WarpRecord *host_records = nullptr;      ///< pinned
  DrainSlot *slots = nullptr;              ///< pinned, and mapped
  uint32_t slot_count = 0;
  uint32_t *consumed = nullptr;  ///< as `slots`
  DrainEnd drain;
  CAIRN_RT(Event_t) ended = nullptr;
  cairn_gpu_launch what{};
  uint32_t warp_count = 0;
  [[nodiscard]] Trace trace() const { return {buffers}; }
};

/// A block of 32 threads finishes as many warps as it has lanes to spare: one after another, all lanes copying.
static __global__ void cairn_gather(TracedWarp *warps, WarpRecord *records, uint32_t count, uint32_t *out) {
  const uint32_t at = blockIdx.x * (blockDim.x / kLanes) + threadIdx.x / kLanes;
  if (at >= count) return;
  const uint32_t lane = threadIdx.x % kLanes;
  if (lane == 0) finish_warp(warps[at], records[at]);
  stay_together(~LaneMask{0});
  __threadfence_block();
  place_words(warps[at], records[at], out, lane, kLanes);
}

class Collector {
 public:
  static Collector &one() {
    static auto *const collector = new Collector;  // outlives all that may launch
    return *collector;
  }

  /// nullptr if the device, or where streams are drained the host, has no room.
  Memory *take(uint64_t warps, uint64_t words, bool values, uint32_t slots) {
    int device = 0;
    if (CAIRN_RT(GetDevice)(&device) != CAIRN_RT(Success)) return nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (size_t i = 0; i < free_.size(); ++i) {
        Memory *memory = free_[i];
        if (memory->device != device || memory->warp_room < warps || memory->word_room < words) continue;
        if (memory->slot_count != slots || (memory->values != nullptr) != values) continue;
        free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
        return memory;
      }
    }
    auto *memory = new Memory;
    memory->device = device;
    memory->warp_room = warps;
    memory->word_room = words;
    bool room = true;
    const auto on_device = [&room](auto **at, uint64_t bytes) {
      room = room && CAIRN_RT(Malloc)(reinterpret_cast<void **>(at), bytes) == CAIRN_RT(Success);
    };
    on_device(&memory->buffers, sizeof(Buffers));
    on_device(&memory->warps, warps * sizeof(TracedWarp));
    if (values) on_device(&memory->values, warps * sizeof(WarpValues<LaneMask>));
    on_device(&memory->words, words * sizeof(uint32_t));
    on_device(&memory->gathered, words * sizeof(uint32_t));
    on_device(&memory->records, warps * sizeof(WarpRecord));
    room = room && pinned(&memory->host_buffers, sizeof(Buffers)) &&
           pinned(&memory->host_records, warps * sizeof(WarpRecord)) &&
           CAIRN_RT(EventCreateWithFlags)(&memory->ended, CAIRN_RT(EventDisableTiming)) == CAIRN_RT(Success);
    memory->slot_count = slots;
    if (slots != 0) room = room && pinned(&memory->slots, slots * sizeof(DrainSlot)) && pinned(&memory->consumed, 4);
    if (room && slots != 0) {
      std::memset(memory->slots, 0, slots * sizeof(DrainSlot));
      *memory->consumed = 0;
    }
    if (room) return memory;
    (void)CAIRN_RT(GetLastError)();  // not the program's
    release(memory);
    return nullptr;
  }

  void give(Memory *memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!thread_.joinable()) {
      std::atexit([] { one().finish(); });
      thread_ = std::thread([this] { work(); });
    }
    waiting_.push_back(memory);
    changed_.notify_all();
  }

  void complain_once(const char *why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!complained_) std::fprintf(stderr, "cairn: some kernels are not traced: %s\n", why);
    complained_ = true;
  }

 private:
  template <typename T>
  static bool pinned(T **at, uint64_t bytes) {
#if defined(__HIPCC__) && !defined(__CUDACC__)
    return hipHostMalloc(reinterpret_cast<void **>(at), bytes, hipHostMallocMapped | hipHostMallocCoherent) ==
           hipSuccess;
#else
    return cudaHostAlloc(reinterpret_cast<void **>(at), bytes, cudaHostAllocMapped) == cudaSuccess;
#endif
  }
  static void free_pinned(void *at) {
#if defined(__HIPCC__) && !defined(__CUDACC__)
    (void)hipHostFree(at);
#else
    (void)cudaFreeHost(at);
#endif
  }

  static void release(Memory *memory) {
    for (void *at : {static_cast<void *>(memory->buffers), static_cast<void *>(memory->warps),
                     static_cast<void *>(memory->values), static_cast<void *>(memory->words),
                     static_cast<void *>(memory->gathered), static_cast<void *>(memory->records)}) {
      if (at != nullptr) (void)CAIRN_RT(Free)(at);
    }
    if (memory->host_buffers != nullptr) free_pinned(memory->host_buffers);
    if (memory->host_records != nullptr) free_pinned(memory->host_records);
    if (memory->slots != nullptr) free_pinned(memory->slots);
    if (memory->consumed != nullptr) free_pinned(memory->consumed);
    if (memory->ended != nullptr) (void)CAIRN_RT(EventDestroy)(memory->ended);
    delete memory;
  }

  void work() {
    for (;;) {
      Memory *memory = nullptr;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return !waiting_.empty() || over_; });
        if (waiting_.empty()) return;
        memory = waiting_.front();
        waiting_.pop_front();
      }
      fetch(memory);
      const std::lock_guard<std::mutex> lock(mutex_);
      free_.push_back(memory);
    }
  }

  void fetch(Memory *memory) {
    (void)CAIRN_RT(SetDevice)(memory->device);
    Stream stream = nullptr;
    bool well = CAIRN_RT(StreamCreateWithFlags)(&stream, CAIRN_RT(StreamNonBlocking)) == CAIRN_RT(Success) &&
                CAIRN_RT(EventSynchronize)(memory->ended) == CAIRN_RT(Success);
    const uint64_t count = well ? memory->host_buffers->gathered : 0;
    std::vector<uint32_t> words(count);
    well = well && (count == 0 || (CAIRN_RT(MemcpyAsync)(words.data(), memory->gathered, count * sizeof(uint32_t),
                                                         CAIRN_RT(MemcpyDeviceToHost), stream) == CAIRN_RT(Success) &&
                                   CAIRN_RT(StreamSynchronize)(stream) == CAIRN_RT(Success)));
    if (stream != nullptr) (void)CAIRN_RT(StreamDestroy)(stream);
    if (memory->slot_count != 0) {
      Drainer::one().end(&memory->drain);
      well = well && memory->drain.has_all(memory->host_buffers->drain.tail);
      if (well) words = memory->drain.join(words, memory->host_records);
    }
    if (!well) {
      if (memory->slot_count != 0) std::memset(memory->slots, 0, memory->slot_count * sizeof(DrainSlot));
      complain_once("a launch failed, and its trace with it");
      return;
    }
    static_assert(sizeof(WarpRecord) == sizeof(cairn_gpu_warp), "the library reads records as they are");
    memory->what.device = static_cast<uint32_t>(memory->device);
    memory->what.warps = reinterpret_cast<const cairn_gpu_warp *>(memory->host_records);
    memory->what.warp_count = memory->warp_count;
    memory->what.words = words.data();
    memory->what.word_count = words.size();
    (void)library()->collect(&memory->what);
  }

  void finish() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    (void)library()->write();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Memory *> waiting_;
  std::vector<Memory *> free_;
  std::thread thread_;
  bool over_ = false;
  bool complained_ = false;
};

/// Where the device sees what was pinned.
template <typename T>
T *on_device(T *pinned) {
  void *seen = nullptr;
  return CAIRN_RT(HostGetDevicePointer)(&seen, pinned, 0) == CAIRN_RT(Success) ? static_cast<T *>(seen) : pinned;
}

inline Memory *take_memory(const Buffers &buffers, bool values, const cairn_gpu_launch &what, Stream stream) {
  Collector &collector = Collector::one();
  CAIRN_RT(StreamCaptureStatus) capture = CAIRN_RT(StreamCaptureStatusNone);
  if (CAIRN_RT(StreamIsCapturing)(stream, &capture) != CAIRN_RT(Success) ||
      capture != CAIRN_RT(StreamCaptureStatusNone)) {
    collector.complain_once("they are part of a graph that is being captured");
    return nullptr;
  }
  Memory *memory = collector.take(buffers.warp_count, buffers.capacity, values, buffers.drain.count);
  if (memory == nullptr) {
    collector.complain_once("the device has no memory for it; give less with CAIRN_GPU_MEMORY");
    return nullptr;
  }
  memory->what = what;
  memory->warp_count = buffers.warp_count;
  *memory->host_buffers = buffers;
  memory->host_buffers->warps = memory->warps;
  memory->host_buffers->values = memory->values;
  memory->host_buffers->words = memory->words;
  if (memory->slot_count != 0) {
    memory->drain.begin(memory->slots, memory->consumed, memory->slot_count, buffers.warp_count);
    memory->host_buffers->drain = memory->drain.ring(on_device(memory->slots), on_device(memory->consumed));
    Drainer::one().begin(&memory->drain);
  }
  // Heads are enough: a warp that begins makes the rest.
  (void)CAIRN_RT(Memset2DAsync)(memory->warps, sizeof(TracedWarp), 0, sizeof(memory->warps->head), buffers.warp_count,
                                stream);
  (void)CAIRN_RT(MemcpyAsync)(memory->buffers, memory->host_buffers, sizeof(Buffers), CAIRN_RT(MemcpyHostToDevice),
                              stream);
  return memory;
}

inline void collect(Memory *memory, Stream stream) {
  constexpr uint32_t kWarpsPerBlock = 4;
  const uint32_t count = memory->warp_count;
  cairn_gather<<<(count + kWarpsPerBlock - 1) / kWarpsPerBlock, kWarpsPerBlock * kLanes, 0, stream>>>(
      memory->warps, memory->records, count, memory->gathered);
  (void)CAIRN_RT(MemcpyAsync)(memory->host_records, memory->records, count * sizeof(WarpRecord),
                              CAIRN_RT(MemcpyDeviceToHost), stream);
  (void)CAIRN_RT(MemcpyAsync)(memory->host_buffers, memory->buffers, sizeof(Buffers), CAIRN_RT(MemcpyDeviceToHost),
                              stream);
  (void)CAIRN_RT(EventRecord)(memory->ended, stream);
  Collector::one().give(memory);
}

}  // namespace cairn::gpu
