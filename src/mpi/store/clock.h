// The recorder's clock: ticks, and nanoseconds since the process was attached.
//
// A tick is one of the time-stamp counter where the processor says that it is invariant (8 ns a reading here, against
// 18 for clock_gettime), scaled with a factor measured at start and again, over a longer time, when MPI_Init returns,
// and wherever times are made blocks of (timing_log.h); else a nanosecond of clock_gettime(CLOCK_MONOTONIC). Frames
// hold ticks, so that a call scales one difference and not two times. One a process; reading is safe from any thread.
//
// So two processes of one kernel do not tell the same moment alike: each knows it as well as it could read counter and
// CLOCK_MONOTONIC at once, some 20 ns, and says how well that was (`uncertainty`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace cairn::recorder {

__extension__ using Wide = unsigned __int128;

/// As a call needs it.
class Clock {
 public:
  /// Whether ticks are the processor's: then `counter` reads them.
  [[nodiscard]] bool counts() const { return scale_ != 0; }

  static uint64_t counter() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
  }

  [[nodiscard]] uint64_t ticks() const { return counts() ? counter() : monotonic() - origin_ns_; }

  /// From one moment to a later one, in nanoseconds. Counters of two cores may be apart: then nothing.
  [[nodiscard]] uint64_t between(uint64_t begin, uint64_t end) const {
    const uint64_t ticks = end > begin ? end - begin : 0;
    return counts() ? scaled(ticks) : ticks;
  }

  /// The same where ticks are the processor's.
  [[nodiscard]] uint64_t counted(uint64_t begin, uint64_t end) const { return end > begin ? scaled(end - begin) : 0; }

  /// Nanoseconds since the process was attached.
  [[nodiscard]] uint64_t at(uint64_t ticks) const { return counts() ? scaled(ticks - origin_ticks_) : ticks; }
  /// CLOCK_MONOTONIC when the process was attached.
  [[nodiscard]] uint64_t origin() const { return origin_ns_; }
  [[nodiscard]] uint64_t now() const { return at(ticks()); }

  static uint64_t monotonic() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  }

 private:
  friend class CalibratedClock;

  [[nodiscard]] uint64_t scaled(uint64_t ticks) const {
    return static_cast<uint64_t>((static_cast<Wide>(ticks) * scale_) >> kFraction);
  }

  /// With 32 an hour would be told up to 2 us too short.
  static constexpr int kFraction = 48;

  uint64_t origin_ns_ = 0;
  uint64_t origin_ticks_ = 0;
  uint64_t scale_ = 0;  ///< nanoseconds a tick, with kFraction fractional bits; 0: no counter
};

/// And how it came to that.
class CalibratedClock {
 public:
  void start() {
    clock_.origin_ns_ = Clock::monotonic();
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0) {
      last_ = read_both();
      clock_.origin_ticks_ = last_.ticks;
      clock_.origin_ns_ = last_.ns;
      origin_width_ = last_.width;
      while (Clock::monotonic() - clock_.origin_ns_ < 200'000) {
      }
      calibrate();
    }
#endif
  }

  /// Measures the counter's rate again, over all the time since `start`.
  void calibrate() {
#if defined(__x86_64__)
    if (clock_.origin_ticks_ == 0) return;
    const Reading now = read_both();
    const uint64_t ticks = now.ticks - clock_.origin_ticks_;
    if (ticks == 0) return;
    clock_.scale_ = static_cast<uint64_t>((static_cast<Wide>(now.ns - clock_.origin_ns_) << Clock::kFraction) / ticks);
    // Between two readings lies a line, unless the kernel changes its clock's rate: the reading before tells.
    uncertainty_ns_ = std::max({uncertainty_ns_, clock_.scaled(origin_width_) / 2 + 1, off_by(last_), off_by(now)});
    last_ = now;
#endif
  }

  [[nodiscard]] const Clock &clock() const { return clock_; }

  /// How far that may have been, and be, from CLOCK_MONOTONIC of a moment up to this one, in nanoseconds. It grows
  /// behind the last `calibrate`, as a line through two points that are each so uncertain goes astray.
  [[nodiscard]] uint64_t uncertainty(uint64_t ticks) const {
    const uint64_t known = last_.ticks - clock_.origin_ticks_;
    const uint64_t behind = ticks > last_.ticks ? ticks - last_.ticks : 0;
    if (behind == 0 || known == 0) return uncertainty_ns_;
    return uncertainty_ns_ + static_cast<uint64_t>(static_cast<Wide>(2 * uncertainty_ns_) * behind / known);
  }

 private:
  /// Both clocks at one moment, somewhere within so many ticks of which that is the middle.
  struct Reading {
    uint64_t ticks;
    uint64_t ns;
    uint64_t width;
  };
#if defined(__x86_64__)
  /// Of some tries the one that nothing came between.
  static Reading read_both() {
    Reading narrowest = {0, 0, UINT64_MAX};
    for (int i = 0; i < 8; ++i) {
      const uint64_t before = __rdtsc();
      const uint64_t time = Clock::monotonic();
      const uint64_t width = __rdtsc() - before;
      if (width < narrowest.width) narrowest = {before + width / 2, time, width};
    }
    return narrowest;
  }
  /// At most.
  [[nodiscard]] uint64_t off_by(const Reading &reading) const {
    const uint64_t told = clock_.at(reading.ticks);
    const uint64_t read = reading.ns - clock_.origin_ns_;
    return (told > read ? told - read : read - told) + clock_.scaled(reading.width) / 2 + 1;
  }
#endif

  Clock clock_;
  uint64_t origin_width_ = 0;
  uint64_t uncertainty_ns_ = 0;
  Reading last_ = {};  ///< by `calibrate`
};

}  // namespace cairn::recorder
