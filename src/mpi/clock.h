// The recorder's clock: nanoseconds since the process was attached.
//
// Reads the time-stamp counter where the processor says it is invariant (8 ns here, against 18 for clock_gettime)
// and scales it with a factor measured at start and again, over a longer time, when MPI_Init returns; else, and under
// lossless timing, clock_gettime(CLOCK_MONOTONIC). One a process; reading is safe from any thread.
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
  void start(bool exact) {
    origin_ns_ = monotonic();
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (!exact && __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0) {
      read_both(&origin_ticks_, &origin_ns_);
      while (monotonic() - origin_ns_ < 200'000) {
      }
      calibrate();
    }
#else
    (void)exact;
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

  [[nodiscard]] uint64_t now() const {
#if defined(__x86_64__)
    if (scale_ != 0) {
      const Wide ticks = __rdtsc() - origin_ticks_;
      return static_cast<uint64_t>((ticks * scale_) >> 32);
    }
#endif
    return monotonic() - origin_ns_;
  }

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

#if defined(__x86_64__)
  /// Both clocks at one moment. A process that shares its core may be put aside between the two readings, and a
  /// hypervisor may take 50 us for an instruction: the tightest of some tries counts.
  static void sample(uint64_t &nanoseconds, uint64_t &ticks) {
    uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < 8 && tightest > 500; ++i) {
      const uint64_t before = monotonic();
      const uint64_t between = __rdtsc();
      const uint64_t after = monotonic();
      if (after - before < tightest) {
        tightest = after - before;
        nanoseconds = before + tightest / 2;
        ticks = between;
      }
    }
  }
#endif

  uint64_t origin_ns_ = 0;
  uint64_t origin_ticks_ = 0;
  uint64_t scale_ = 0;  ///< nanoseconds a tick, 32 fractional bits; 0: no counter
};

}  // namespace cairn::recorder
