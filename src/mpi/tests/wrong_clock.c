// Preloaded into wrong_clocks.c: a monotonic clock that a program can make wrong, as those of other hosts may be.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long wrong_ns = 0;

/// Never back, as a clock would not.
void make_clock_wrong(long ns);
void make_clock_wrong(long ns) {
  if (ns > wrong_ns) wrong_ns = ns;
}

int clock_gettime(clockid_t which, struct timespec *now) {
  const int result = (int)syscall(SYS_clock_gettime, which, now);
  if (result == 0 && which == CLOCK_MONOTONIC && wrong_ns != 0) {
    const long ns = now->tv_nsec + wrong_ns;
    now->tv_sec += ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
  }
  return result;
}
