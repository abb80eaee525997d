// Sums and products that stay at the greatest number rather than begin anew: a trace may tell of 2^63 calls, and a
// hostile one of anything. Plain functions.
#pragma once

#include <cstdint>

namespace cairn {

constexpr uint64_t saturating(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
inline void add_to(uint64_t *sum, uint64_t more) { *sum = saturating(*sum, more); }
inline uint64_t saturating_product(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

}  // namespace cairn
