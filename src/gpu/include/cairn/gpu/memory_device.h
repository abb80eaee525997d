// A launch's memory on a GPU (CUDA, HIP, or the emulator), and how what is in it comes to the host.
//
// A device has one allocation for tracing, of CAIRN_GPU_MEMORY bytes or an eighth of what is free, at most 4 GiB, made
// when its first kernel is traced and kept until the program resets the device or needs it (share.h). Each launch in
// flight has a part of it (pool.h); what the part holds for words depends on what launches of its kernel have written.
// Where there is no part left, the program waits until a launch gives its part back, or the launch is not traced and
// says so in the trace (CAIRN_GPU_FULL).
//
// On the launch's stream stand a kernel that makes its tables, the launch itself, and a kernel that finishes warps'
// streams and counts their words; around the launch, events that tell when it ran (device_clock.h). Our thread waits
// for that, has the words placed one after another in the host's memory, by a kernel on a stream of its own, hands them
// to the library and gives the part back. Where streams are drained, most words are here by then (drain_host.h). At
// exit the thread is waited for. A launch on a stream that is being captured is left as it is. Host only.
#pragma once

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "device.h"
#include "device_clock.h"
#include "drain_host.h"
#include "launch_kernels.h"
#include "library.h"
#include "pool.h"
#include "runtime.h"
#include "settings.h"
#include "share.h"

namespace cairn::gpu {

/// A launch in flight.
struct Memory {
  int device = 0;
  uint64_t part = Pool::kNone;  ///< of the device's pool
  Buffers *buffers = nullptr;   ///< on the device, as what follows
  TracedWarp *warps = nullptr;
  WarpRecord *records = nullptr;
  WarpValues<LaneMask> *values = nullptr;  ///< if the program has values
  cairn_gpu_clock *clocks = nullptr;       ///< if it is traced with clocks
  uint32_t *words = nullptr;
  std::unique_ptr<Ring> ring;  ///< if it drains
  Event ended;
  KernelTime ran;
  cairn_gpu_launch what{};
  cairn_gpu_moment moment{};  ///< but for when its kernel ran
  uint32_t warp_count = 0;
  [[nodiscard]] Trace trace() const { return {buffers}; }
};

class Collector {
 public:
  struct Why {
    cairn_gpu_why number;
    const char *text;
  };

  static Collector &one() {
    static auto *const collector = new Collector;  // outlives all that may launch
    return *collector;
  }

  /// nullptr: the launch is not to be traced, and is in the trace as one that was not. Sets `what.device`.
  Memory *take(Buffers &buffers, bool values, cairn_gpu_launch &what, Stream stream) {
    int device = 0;
    if (CAIRN_RT(GetDevice)(&device) != CAIRN_RT(Success))
      return untraced(what, {CAIRN_GPU_FAILED, "there is no device"});
    what.device = static_cast<uint32_t>(device);
    {
      OwnErrors well;
      CAIRN_RT(StreamCaptureStatus) capture = CAIRN_RT(StreamCaptureStatusNone);
      const CAIRN_RT(Error_t) error = CAIRN_RT(StreamIsCapturing)(stream, &capture);
      if (!well(error) && error != CAIRN_RT(ErrorStreamCaptureImplicit)) {
        return untraced(what, {CAIRN_GPU_FAILED, kFailed});
      }
      if (error != CAIRN_RT(Success) || capture != CAIRN_RT(StreamCaptureStatusNone)) {
        return untraced(what, {CAIRN_GPU_GRAPH, "they are captured into graphs"});
      }
    }
    const BesideCaptures beside;
    std::unique_lock<std::mutex> lock(mutex_);
    if (over_) return nullptr;  // the trace is written
    Share &of = shares_[device];
    Memory *memory = nullptr;
    const auto found = [&] {
      if (of.closing) return false;
      of.take_memory();  // anew, where the device was reset or the program needed it
      return (memory = part_of(of, device, buffers, values, what)) != nullptr;
    };
    if (!found() && settings().wait && of.in_flight != 0 && !gave_up_) {
      gave_up_ = !given_.wait_for(lock, std::chrono::seconds(kPatience),
                                  [&] { return found() || (of.in_flight == 0 && !of.closing); });
    }
    if (memory == nullptr) {
      const bool never = of.in_flight == 0;
      const bool none = of.base == nullptr;
      lock.unlock();
      return untraced(what, {CAIRN_GPU_MEMORY,
                             none    ? "the device has no memory for it; give less with CAIRN_GPU_MEMORY"
                             : never ? "they need more of the device's memory than they may have: give more with "
                                       "CAIRN_GPU_MEMORY, or trace one warp in 4 with CAIRN_GPU_WARPS=4"
                                     : "those in flight have all of the device's memory that they may have: give more "
                                       "with CAIRN_GPU_MEMORY"});
    }
    ++of.in_flight;
    return memory;
  }

  /// What is so now, where the library keeps it. `made`: a launch that is about to be made, which it is told of.
  static cairn_gpu_moment now(const cairn_gpu_launch *made = nullptr) {
    cairn_gpu_moment moment{};
    const Library &to = *library();
    if (made != nullptr && to.begin != nullptr) {
      (void)to.begin(made, &moment);
    } else if (to.now != nullptr) {
      to.now(&moment);
    }
    return moment;
  }

  /// Puts the launch into the trace as one that was not traced. Gives nullptr.
  Memory *untraced(const cairn_gpu_launch &what, const Why &why, const cairn_gpu_moment &moment = now()) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      write_at_exit();
      if (!complained_[why.number]) std::fprintf(stderr, "cairn: some kernels are not traced: %s\n", why.text);
      complained_[why.number] = true;
    }
    const Library &to = *library();
    if (to.collect_untraced != nullptr) {
      (void)to.collect_untraced(&what, &moment, why.number);
    } else {
      keep(what, moment);
    }
    return nullptr;
  }

  /// Around the program's reset of its device: what is in flight there is fetched before, and nothing of ours is left
  /// to be lost. What takes longer than 10 seconds is: CUDA says that it resets at once, so a kernel that waits for
  /// what the program does next must not keep it from that. Memory is asked for anew when something is launched there
  /// again.
  template <typename Call>
  auto reset(const Call &call) {
    int device = 0;
    if (CAIRN_RT(GetDevice)(&device) != CAIRN_RT(Success)) return call();
    std::unique_lock<std::mutex> lock(mutex_);
    const auto found = shares_.find(device);
    if (found == shares_.end()) {
      lock.unlock();
      return call();
    }
    Share &of = found->second;
    const bool before = is_fetched(of, lock);
    if (before) of.release();
    const auto error = call();  // still alone: nobody takes memory before it
    if (!before && is_fetched(of, lock)) of.release();
    return error;
  }

  /// The program found no memory on its device: gives ours back, as soon as nothing is in flight there, and lets it try
  /// `again` before anybody else takes some. False: there was none of ours, or it was in use for too long.
  template <typename Call>
  bool make_room(const Call &again) {
    int device = 0;
    if (CAIRN_RT(GetDevice)(&device) != CAIRN_RT(Success)) return false;
    const BesideCaptures beside;
    std::unique_lock<std::mutex> lock(mutex_);
    const auto found = shares_.find(device);
    if (found == shares_.end() || found->second.base == nullptr) return false;
    Share &of = found->second;
    of.closing = true;
    const bool none = is_fetched(of, lock);
    of.closing = false;
    if (none) {
      of.give_memory_back();
      again();
    }
    given_.notify_all();  // launches that waited
    return none;
  }

  /// The launch stands on its stream, and so does what finishes its warps.
  void give(Memory *memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    write_at_exit();
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    waiting_.push_back(memory);
    changed_.notify_all();
  }

 private:
  static constexpr int kPatience = 10;  ///< seconds
  static constexpr const char *kFailed = "their device failed, and what was traced and not fetched yet is lost";

  /// Waits until nothing is in flight on the device. False: something was for too long.
  bool is_fetched(const Share &of, std::unique_lock<std::mutex> &lock) {
    return given_.wait_for(lock, std::chrono::seconds(kPatience), [&] { return of.in_flight == 0; });
  }

  /// A part of the device's memory for the launch, or nullptr. Sets what `buffers` has there.
  Memory *part_of(Share &of, int device, Buffers &buffers, bool values, const cairn_gpu_launch &what) {
    const uint64_t warps = buffers.warp_count;
    const uint64_t sizes[] = {sizeof(Buffers), warps * sizeof(TracedWarp), warps * sizeof(WarpRecord),
                              values ? warps * sizeof(WarpValues<LaneMask>) : 0,
                              settings().clocks ? warps * sizeof(cairn_gpu_clock) : 0};
    uint64_t tables = 0;
    for (const uint64_t size : sizes) tables += Pool::aligned(size);
    const uint64_t largest = of.pool.largest();
    if (largest < tables) return nullptr;
    uint64_t words = buffers.capacity;  // ring, drain: so many and no others
    if (words == 0) {
      uint64_t most = (largest - tables) / sizeof(uint32_t);
      if (most > kMostWords) most = kMostWords;
      words = words_for(
          {warps, most, of.pool.bytes() / sizeof(uint32_t), seen_[{what.program, what.kernel}], of.in_flight == 0});
      if (words == 0) return nullptr;
    }
    if (largest < tables + words * sizeof(uint32_t)) return nullptr;
    auto memory = std::make_unique<Memory>();
    memory->ended = of.events.take(Events::untimed);
    if (memory->ended == nullptr) return nullptr;
    memory->ran = of.events.kernel_time();
    if (buffers.drain.count != 0) {
      memory->ring = of.take_ring(buffers.drain.count);
      if (memory->ring == nullptr) {
        of.events.give(memory->ended, &memory->ran);
        return nullptr;
      }
    }
    const uint64_t part = of.pool.take(tables + words * sizeof(uint32_t));
    assert(part != Pool::kNone);
    char *at = of.base + part;
    const auto next = [&](uint64_t size) {
      char *const here = at;
      at += Pool::aligned(size);
      return size == 0 ? nullptr : here;
    };
    memory->buffers = reinterpret_cast<Buffers *>(next(sizes[0]));
    memory->warps = reinterpret_cast<TracedWarp *>(next(sizes[1]));
    memory->records = reinterpret_cast<WarpRecord *>(next(sizes[2]));
    memory->values = reinterpret_cast<WarpValues<LaneMask> *>(next(sizes[3]));
    memory->clocks = reinterpret_cast<cairn_gpu_clock *>(next(sizes[4]));
    memory->words = reinterpret_cast<uint32_t *>(at);
    memory->device = device;
    memory->part = part;
    buffers.warps = memory->warps;
    buffers.values = memory->values;
    buffers.clocks = memory->clocks;
    give_words(buffers, memory->words, static_cast<uint32_t>(words));
    return memory.release();
  }

  static void keep(const cairn_gpu_launch &what, const cairn_gpu_moment &moment,
                   const cairn_gpu_clock *clocks = nullptr, uint32_t processors = 0) {
    const Library &to = *library();
    if (clocks != nullptr && to.collect_clocks != nullptr) {
      (void)to.collect_clocks(&what, &moment, clocks, processors);
    } else {
      (void)(to.collect_at == nullptr ? to.collect(&what) : to.collect_at(&what, &moment));
    }
  }

  /// 0: nobody knows.
  static uint32_t processors_of(int device) {
    int count = 0;
    OwnErrors well;
    return well(CAIRN_RT(DeviceGetAttribute)(&count, kProcessorCount, device)) && count > 0
               ? static_cast<uint32_t>(count)
               : 0;
  }

  /// There is something to write, be it only that nothing was traced.
  void write_at_exit() {
    if (!registered_) std::atexit([] { one().finish(); });
    registered_ = true;
  }

  void work() {
    for (;;) {
      Memory *memory = nullptr;
      Share *share = nullptr;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return !waiting_.empty() || over_; });
        if (waiting_.empty()) return;
        memory = waiting_.front();
        waiting_.pop_front();
        share = &shares_[memory->device];
      }
      const uint64_t used = fetch(memory, *share);
      const std::lock_guard<std::mutex> lock(mutex_);
      uint64_t &seen = seen_[{memory->what.program, memory->what.kernel}];
      if (used > seen) seen = used;
      Share &of = *share;
      of.pool.give(memory->part);
      --of.in_flight;
      of.events.give(memory->ended, &memory->ran);
      of.give(std::move(memory->ring));
      delete memory;
      given_.notify_all();
    }
  }

  /// Gives how many words of the pool the launch took.
  uint64_t fetch(Memory *memory, Share &of) {
    (void)CAIRN_RT(SetDevice)(memory->device);
    const BesideCaptures beside;
    const uint32_t count = memory->warp_count;
    Stream &stream = of.stream;
    bool well = true;
    if (stream == nullptr) {
      well = CAIRN_RT(StreamCreateWithFlags)(&stream, CAIRN_RT(StreamNonBlocking)) == CAIRN_RT(Success);
    }
    well = well && CAIRN_RT(EventSynchronize)(memory->ended) == CAIRN_RT(Success);
    if (well) of.clock.tell(memory->ran, stream, &memory->moment);
    auto *const ended = static_cast<Buffers *>(of.ended.take(sizeof(Buffers)));
    auto *const records = static_cast<WarpRecord *>(of.records.take(uint64_t{count} * sizeof(WarpRecord)));
    const auto bring = [&](void *to, const void *from, uint64_t bytes) {
      well = well && CAIRN_RT(MemcpyAsync)(to, from, bytes, CAIRN_RT(MemcpyDeviceToHost), stream) == CAIRN_RT(Success);
    };
    const auto wait = [&] { well = well && CAIRN_RT(StreamSynchronize)(stream) == CAIRN_RT(Success); };
    well = well && ended != nullptr && records != nullptr;
    bring(ended, memory->buffers, sizeof(Buffers));
    bring(records, memory->records, uint64_t{count} * sizeof(WarpRecord));
    cairn_gpu_clock *clocks = nullptr;
    if (memory->clocks != nullptr) {
      const uint64_t bytes = uint64_t{count} * sizeof(cairn_gpu_clock);
      clocks = static_cast<cairn_gpu_clock *>(of.clocks.take(bytes));
      well = well && clocks != nullptr;
      bring(clocks, memory->clocks, bytes);
    }
    wait();
    const uint64_t words = well ? ended->gathered : 0;
    auto *const placed = static_cast<uint32_t *>(of.words.take(words * sizeof(uint32_t) + 4));
    if (well && words != 0) {
      well = placed != nullptr;
      if (well) {
        const TracedWarp *const warps = memory->warps;
        const WarpRecord *const of_warps = memory->records;
        uint32_t *const to = on_device(placed);
        CAIRN_GPU_RUN(cairn_place, blocks_for(count * kLanes), kThreads, stream, warps, of_warps, count, to);
      }
      wait();
    }
    const uint32_t *all = placed;
    uint64_t all_count = words;
    std::vector<uint32_t> joined;
    if (memory->ring != nullptr) {
      Ring &ring = *memory->ring;
      Drainer::one().end(&ring.end);
      well = well && ring.end.has_all(ended->drain.tail);
      if (well) joined = ring.end.join({placed, placed + words}, records);
      if (!well) std::memset(ring.slots, 0, ring.count * sizeof(DrainSlot));
      all = joined.data();
      all_count = joined.size();
    }
    if (!well) {
      (void)CAIRN_RT(GetLastError)();
      (void)untraced(memory->what, {CAIRN_GPU_FAILED, kFailed}, memory->moment);
      return 0;
    }
    static_assert(sizeof(WarpRecord) == sizeof(cairn_gpu_warp), "the library reads records as they are");
    memory->what.warps = reinterpret_cast<const cairn_gpu_warp *>(records);
    memory->what.warp_count = count;
    memory->what.words = all;
    memory->what.word_count = all_count;
    keep(memory->what, memory->moment, clocks, clocks == nullptr ? 0 : processors_of(memory->device));
    return ended->used - ended->own * ended->warp_count + words;
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
  std::condition_variable changed_;                                          ///< `waiting_`, `over_`
  std::condition_variable given_;                                            ///< parts of a device's memory, or rings
  std::map<int, Share> shares_;                                              ///< by device; none goes
  std::map<std::pair<const cairn_gpu_program *, uint32_t>, uint64_t> seen_;  ///< words that a kernel has written
  std::deque<Memory *> waiting_;
  std::thread thread_;
  bool over_ = false;
  bool complained_[CAIRN_GPU_FAILED + 1] = {};
  bool registered_ = false;  ///< to be called at exit
  bool gave_up_ = false;     ///< somebody waited in vain
};

inline Memory *take_memory(Buffers &buffers, bool values, cairn_gpu_launch &what, Stream stream) {
  Memory *memory = Collector::one().take(buffers, values, what, stream);
  if (memory == nullptr) return nullptr;
  memory->what = what;
  memory->warp_count = buffers.warp_count;
  if (memory->ring != nullptr) {
    Ring &ring = *memory->ring;
    ring.end.begin(ring.slots, ring.consumed, ring.count, buffers.warp_count);
    buffers.drain = ring.end.ring(on_device(ring.slots), on_device(ring.consumed));
    Drainer::one().begin(&ring.end);
  }
  Buffers *const at = memory->buffers;
  const Buffers made = buffers;
  CAIRN_GPU_RUN(cairn_begin, blocks_for(buffers.warp_count), kThreads, stream, made, at);
  memory->moment = Collector::now(&memory->what);
  begin_time(&memory->ran, stream);
  return memory;
}

inline void collect(Memory *memory, Stream stream) {
  TracedWarp *const warps = memory->warps;
  WarpRecord *const records = memory->records;
  const uint32_t count = memory->warp_count;
  end_time(&memory->ran, stream);
  CAIRN_GPU_RUN(cairn_finish, blocks_for(count), kThreads, stream, warps, records, count);
  (void)CAIRN_RT(EventRecord)(memory->ended, stream);
  Collector::one().give(memory);
}

}  // namespace cairn::gpu
