// mixed: a number whose bits depend on many of another's, for tables of addresses: addresses of code differ in few
// bits.
#pragma once

#include <cstdint>

namespace cairn::recorder {

constexpr uint64_t kMix = 0x9e3779b97f4a7c15U;

inline uint64_t mixed(uint64_t value) {
  value *= kMix;
  return value ^ (value >> 32);
}

}  // namespace cairn::recorder
