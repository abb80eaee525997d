// as_size: a number of 64 bits as a size or an index. Where those have 32 bits (WebAssembly), what is greater becomes
// the greatest there is, which nothing has: what a check refuses on one machine, it refuses on each.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace cairn {

/// Of a negative number: the greatest, too.
constexpr size_t as_size(std::integral auto number) {
  const auto wide = static_cast<uint64_t>(number);
  return wide > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(wide);
}

}  // namespace cairn
