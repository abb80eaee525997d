// Sums that stay at the most that there is, as those in hostile files would not.
#pragma once

#include <cstdint>

namespace cairn {

constexpr uint64_t saturating(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

}  // namespace cairn
