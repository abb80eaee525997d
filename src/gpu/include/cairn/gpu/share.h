// What tracing has on one device: its memory there, events, a stream, and memory of the host that the device sees. All
// of it is gone when the device is reset, so `release` gives it back before; what is needed is made anew.
//
// Under the collector's mutex, with the device current in whichever thread makes or releases something; but what
// `fetch` uses belongs to the collector's thread as long as a launch of the device is in flight. An error that the
// program has not yet asked for stays. Host only.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "device_clock.h"
#include "drain_host.h"
#include "pool.h"
#include "runtime.h"
#include "settings.h"

namespace cairn::gpu {

/// The ring of a launch that drains, and its end, which counts slots on from launch to launch.
struct Ring {
  Pinned slot_memory;
  Pinned consumed_memory;
  DrainSlot *slots = nullptr;
  uint32_t *consumed = nullptr;
  uint32_t count = 0;
  DrainEnd end;
};

/// As long as it is there the calling thread may do all that it may do while nothing is captured: what we do on streams
/// of our own, or to memory, has nothing to do with graphs that the program's threads are capturing, and must not spoil
/// them. The thread has made a device current.
class BesideCaptures {
 public:
  BesideCaptures() : changed_(CAIRN_RT(ThreadExchangeStreamCaptureMode)(&mode_) == CAIRN_RT(Success)) {}
  ~BesideCaptures() {
    if (changed_) (void)CAIRN_RT(ThreadExchangeStreamCaptureMode)(&mode_);
  }
  BesideCaptures(const BesideCaptures &) = delete;
  BesideCaptures &operator=(const BesideCaptures &) = delete;

 private:
  CAIRN_RT(StreamCaptureMode) mode_ = CAIRN_RT(StreamCaptureModeRelaxed);
  bool changed_;
};

struct Share {
  Pool pool{0};  ///< of the memory at `base`
  char *base = nullptr;
  Events events;
  bool closing = false;    ///< somebody waits until none is in flight
  uint32_t in_flight = 0;  ///< launches that have a part of the pool, or whose words are yet to be fetched
  // Of `fetch`.
  Stream stream = nullptr;
  DeviceClock clock;
  Pinned ended;
  Pinned records;
  Pinned words;
  Pinned clocks;

  /// Asks for memory, unless it has some: CAIRN_GPU_MEMORY, or an eighth of what is free; less than that where memory
  /// was given back to the program. Where there was none it asks again after one call, two, four...
  void take_memory() {
    if (base != nullptr) return;
    if (patience_ != 0) {
      --patience_;
      return;
    }
    OwnErrors well;
    const bool said = settings().memory != 0 && settings().policy != Policy::drain;
    size_t left = 0;
    size_t all = 0;
    if (!well(CAIRN_RT(MemGetInfo)(&left, &all))) left = 0;
    uint64_t bytes = said ? settings().memory : left / 8 < kMostAtFirst ? left / 8 : kMostAtFirst;
    if (bytes < kFewest && !said) bytes = kFewest;
    if (bytes > most_) bytes = most_;
    void *at = nullptr;
    while (bytes != 0 && !well(CAIRN_RT(Malloc)(&at, bytes))) {
      at = nullptr;
      bytes = said || bytes / 2 < kFewest ? 0 : bytes / 2;
    }
    base = static_cast<char *>(at);
    pool = Pool(bytes);
    patience_ = base == nullptr ? next_patience_ : 0;
    next_patience_ = base == nullptr ? 2 * next_patience_ : 1;
  }
  /// To the program, while no launch is in flight; from now on half of that must do, and after some times nothing.
  void give_memory_back() {
    if (base == nullptr) return;
    OwnErrors well;
    (void)well(CAIRN_RT(Free)(base));
    most_ = pool.bytes() / 2 < kFewest / 16 ? 0 : pool.bytes() / 2;
    base = nullptr;
    pool = Pool(0);
  }
  /// One that nobody has, or a new one, as long as there are few; nullptr: there is none.
  std::unique_ptr<Ring> take_ring(uint32_t count) {
    constexpr size_t kMostRings = 8;
    if (!rings_.empty()) {
      auto ring = std::move(rings_.back());
      rings_.pop_back();
      return ring;
    }
    if (ring_count_ == kMostRings) return nullptr;
    auto ring = std::make_unique<Ring>();
    ring->slots = static_cast<DrainSlot *>(ring->slot_memory.take(count * sizeof(DrainSlot)));
    ring->consumed = static_cast<uint32_t *>(ring->consumed_memory.take(sizeof(uint32_t)));
    if (ring->slots == nullptr || ring->consumed == nullptr) {
      (void)CAIRN_RT(GetLastError)();
      return nullptr;
    }
    std::memset(ring->slots, 0, count * sizeof(DrainSlot));
    *ring->consumed = 0;
    ring->count = count;
    ++ring_count_;
    return ring;
  }
  void give(std::unique_ptr<Ring> ring) {
    if (ring != nullptr) rings_.push_back(std::move(ring));
  }

  /// All of it, while no launch is in flight and before the device is reset. Where there is an error that the program
  /// has not asked for, perhaps that of a device that fails all calls, nothing is called that would fail as well: the
  /// reset frees what is left.
  void release() {
    const bool frees = CAIRN_RT(PeekAtLastError)() == CAIRN_RT(Success);
    OwnErrors well;
    if (frees && base != nullptr) (void)well(CAIRN_RT(Free)(base));
    if (frees && stream != nullptr) (void)well(CAIRN_RT(StreamDestroy)(stream));
    if (frees) events.release(well);
    if (frees) clock.release(well);
    events = {};
    clock = {};
    for (Pinned *each : {&ended, &records, &words, &clocks}) each->release(frees);
    for (const auto &ring : rings_) {
      ring->slot_memory.release(frees);
      ring->consumed_memory.release(frees);
    }
    rings_.clear();
    ring_count_ = 0;
    base = nullptr;
    stream = nullptr;
    pool = Pool(0);
    most_ = UINT64_MAX;
    patience_ = 0;
    next_patience_ = 1;
  }

 private:
  static constexpr uint64_t kMostAtFirst = uint64_t{4} << 30;  ///< where nothing was said
  static constexpr uint64_t kFewest = uint64_t{16} << 20;
  uint64_t most_ = UINT64_MAX;  ///< bytes that it may ask for
  uint64_t patience_ = 0;       ///< calls of take_memory that are not to ask
  uint64_t next_patience_ = 1;
  std::vector<std::unique_ptr<Ring>> rings_;  ///< that nobody has
  size_t ring_count_ = 0;
};

}  // namespace cairn::gpu
