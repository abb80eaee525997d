#include "arrays/file/byte_order.h"

#include <cstring>

namespace cairn::arrays {
namespace {

template <typename T>
T turned(T value) {
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

template <typename T>
void swap_all(const uint8_t *from, uint8_t *to, size_t bytes) {
  for (size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T value;
    memcpy(&value, from + i, sizeof value);
    value = turned(value);
    memcpy(to + i, &value, sizeof value);
  }
}

}  // namespace

void swap_bytes(const uint8_t *from, uint8_t *to, size_t bytes, size_t element) {
  switch (element) {
    case 2:
      return swap_all<uint16_t>(from, to, bytes);
    case 4:
      return swap_all<uint32_t>(from, to, bytes);
    case 8:
      return swap_all<uint64_t>(from, to, bytes);
    default:
      if (from != to && bytes > 0) memcpy(to, from, bytes);
  }
}

}  // namespace cairn::arrays
