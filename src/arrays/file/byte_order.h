// swap_bytes: NetCDF's classic formats are big-endian, codecs take little-endian values. Compiled for speed: every
// value written or read passes here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::arrays {

/// Turns the byte order of each element around; copies elements of one byte. `to` may be `from`. Bytes: a multiple of
/// `element`, which is 1, 2, 4 or 8.
void swap_bytes(const uint8_t *from, uint8_t *to, size_t bytes, size_t element);

}  // namespace cairn::arrays
