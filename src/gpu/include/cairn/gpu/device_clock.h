// When a kernel ran, by the host's clock: two events with times around it on its stream, and what the device's clock is
// on the host's.
//
// Events tell how long it was from one to another, as a float of milliseconds, and nothing of the host. So our thread
// records an event on a stream of its own every so often, waits for it, and knows when on the host's clock that was,
// within half of what the waiting took: the *anchor*. A kernel is told from one at most a second older than when it is
// looked at, where the float still tells 60 ns; its duration from its own two events. It never begins before the host
// launched it: what says so is the anchor's error, and is left out.
//
// Where events fail the kernel's time is not known, and nothing else is lost; an error that the program has not yet
// asked for stays. Between the events stands the kernel alone. Host only.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "collect.h"
#include "runtime.h"

namespace cairn::gpu {

using Event = CAIRN_RT(Event_t);

/// Around a kernel; both nullptr: its time is not told.
struct KernelTime {
  Event begin = nullptr;
  Event end = nullptr;
  bool recorded = false;  ///< both
};

/// What a call of ours left behind is taken away, if nothing of the program's was there.
class OwnErrors {
 public:
  OwnErrors() : clean_(CAIRN_RT(PeekAtLastError)() == CAIRN_RT(Success)) {}
  ~OwnErrors() {
    if (failed_ && clean_) (void)CAIRN_RT(GetLastError)();
  }
  OwnErrors(const OwnErrors &) = delete;
  OwnErrors &operator=(const OwnErrors &) = delete;
  /// Whether it went well.
  bool operator()(CAIRN_RT(Error_t) error) {
    failed_ = failed_ || error != CAIRN_RT(Success);
    return error == CAIRN_RT(Success);
  }

 private:
  bool clean_;
  bool failed_ = false;
};

/// Those of one device that nobody has. One thread at a time, with that device current when any is taken.
class Events {
 public:
  enum Sort : uint8_t { untimed, timed };
  /// One that nobody has, or a new one; nullptr: there is none.
  Event take(Sort sort) {
    std::vector<Event> &free = free_[sort];
    Event event = nullptr;
    if (!free.empty()) {
      event = free.back();
      free.pop_back();
      return event;
    }
    OwnErrors well;
    const unsigned flags = sort == timed ? CAIRN_RT(EventDefault) : CAIRN_RT(EventDisableTiming);
    return well(CAIRN_RT(EventCreateWithFlags)(&event, flags)) ? event : nullptr;
  }
  KernelTime kernel_time() { return {take(timed), take(timed)}; }
  void give(Event ended, KernelTime *time) {
    free_[untimed].push_back(ended);
    for (Event *event : {&time->begin, &time->end}) {
      if (*event != nullptr) free_[timed].push_back(*event);
      *event = nullptr;
    }
  }
  /// All of them go.
  void release(OwnErrors &well) {
    for (std::vector<Event> &each : free_) {
      for (const Event event : each) (void)well(CAIRN_RT(EventDestroy)(event));
      each.clear();
    }
  }

 private:
  std::vector<Event> free_[2];
};

inline void begin_time(KernelTime *time, Stream stream) {
  OwnErrors well;
  time->recorded = time->begin != nullptr && time->end != nullptr && well(CAIRN_RT(EventRecord)(time->begin, stream));
}
inline void end_time(KernelTime *time, Stream stream) {
  OwnErrors well;
  time->recorded = time->recorded && well(CAIRN_RT(EventRecord)(time->end, stream));
}

/// Of one device, for one thread, which has made it current.
class DeviceClock {
 public:
  /// Sets when the kernel ran, which has ended; leaves `moment` alone if that cannot be told.
  void tell(const KernelTime &time, Stream own, cairn_gpu_moment *moment) {
    if (!time.recorded || moment->made_ns == 0) return;
    float duration = 0;
    float since = 0;
    OwnErrors well;
    if (!is_young() && !set_anchor(own, well)) return;
    if (!well(CAIRN_RT(EventElapsedTime)(&duration, time.begin, time.end))) return;
    if (!well(CAIRN_RT(EventElapsedTime)(&since, anchor_, time.begin))) return;
    const int64_t begin = anchor_ns_ + nanoseconds(since);
    const auto made = static_cast<int64_t>(moment->made_ns);
    moment->begin_ns = static_cast<uint64_t>(begin < made ? made : begin);
    moment->end_ns = moment->begin_ns + static_cast<uint64_t>(duration < 0 ? 0 : nanoseconds(duration));
  }
  /// It knows nothing any more.
  void release(OwnErrors &well) {
    for (Event *each : {&anchor_, &spare_}) {
      if (*each != nullptr) (void)well(CAIRN_RT(EventDestroy)(*each));
      *each = nullptr;
    }
    known_ = false;
  }

 private:
  static constexpr int64_t kOld = 1'000'000'000;
  static constexpr int kTries = 3;

  static int64_t nanoseconds(float milliseconds) { return static_cast<int64_t>(double{milliseconds} * 1e6); }
  static int64_t now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  }
  [[nodiscard]] bool is_young() const { return known_ && now() - anchor_ns_ < kOld; }

  /// Of some tries the one that took least.
  bool set_anchor(Stream own, OwnErrors &well) {
    known_ = false;
    int64_t least = INT64_MAX;
    for (int i = 0; i < kTries; ++i) {
      if (spare_ == nullptr && !well(CAIRN_RT(EventCreateWithFlags)(&spare_, CAIRN_RT(EventDefault)))) break;
      const int64_t before = now();
      if (!well(CAIRN_RT(EventRecord)(spare_, own)) || !well(CAIRN_RT(EventSynchronize)(spare_))) break;
      const int64_t took = now() - before;
      if (took >= least) continue;
      least = took;
      std::swap(anchor_, spare_);
      anchor_ns_ = before + took / 2;
      known_ = true;
    }
    return known_;
  }

  Event anchor_ = nullptr;
  Event spare_ = nullptr;
  int64_t anchor_ns_ = 0;
  bool known_ = false;
};

}  // namespace cairn::gpu
