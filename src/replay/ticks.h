// Two clocks: one in nanoseconds, and one that costs a call of MPI less, in a unit of its own that goes on evenly.
#pragma once

#include <chrono>
#include <cstdint>

namespace cairn::replay {

inline uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

inline uint64_t ticks() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return now_ns();
#endif
}

}  // namespace cairn::replay
