// Sums and products of counts and bytes that stay at the greatest number rather than begin anew: a trace may tell of
// 2^63 calls. Plain functions.
#pragma once

#include <cstdint>

namespace cairn::traffic {

inline void add_to(uint64_t *sum, uint64_t more) {
  if (__builtin_add_overflow(*sum, more, sum)) *sum = UINT64_MAX;
}
inline uint64_t product(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

}  // namespace cairn::traffic
