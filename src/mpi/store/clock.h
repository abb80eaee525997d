// The recorder's clock: ticks, and nanoseconds since the process was attached.
//
// A tick is one of the time-stamp counter where the processor says that it is invariant (8 ns a reading here, against
// 18 for clock_gettime), scaled with a factor measured at start and again, over a longer time, when MPI_Init returns,
// and wherever times are made blocks of (timing_log.h); else a nanosecond of clock_gettime(CLOCK_MONOTONIC). Frames
// hold ticks, so that a call scales one difference and not two times. One a process; reading is safe from any thread.
#pragma once

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace cairn::recorder {

__extension__ using Wide = unsigned __int128;

class Clock {
 public:
  void start() {
    origin_ns_ = monotonic();
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0) {
      read_both(&origin_ticks_, &origin_ns_);
      while (monotonic() - origin_ns_ < 200'000) {
      }
      calibrate();
    }
#endif
  }

  /// Measures the counter's rate again, over all the time since `start`.
  void calibrate() {
#if defined(__x86_64__)
    if (origin_ticks_ == 0) return;
    uint64_t ticks = 0;
    uint64_t elapsed = 0;
    read_both(&ticks, &elapsed);
    ticks -= origin_ticks_;
    elapsed -= origin_ns_;
    if (ticks != 0) scale_ = static_cast<uint64_t>((static_cast<Wide>(elapsed) << 32) / ticks);
#endif
  }

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
#if defined(__x86_64__)
  /// Both clocks at one moment: of some tries the one that nothing came between.
  static void read_both(uint64_t *ticks, uint64_t *nanoseconds) {
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < 8; ++i) {
      const uint64_t before = __rdtsc();
      const uint64_t time = monotonic();
      const uint64_t after = __rdtsc();
      if (after - before >= narrowest) continue;
      narrowest = after - before;
      *ticks = before + narrowest / 2;
      *nanoseconds = time;
    }
  }
#endif

  [[nodiscard]] uint64_t scaled(uint64_t ticks) const {
    return static_cast<uint64_t>((static_cast<Wide>(ticks) * scale_) >> 32);
  }

  uint64_t origin_ns_ = 0;
  uint64_t origin_ticks_ = 0;
  uint64_t scale_ = 0;  ///< nanoseconds a tick, 32 fractional bits; 0: no counter
};

}  // namespace cairn::recorder
