#include "arrays/codec/shuffle.h"

#include <cstring>

#include "arrays/codec/cpu.h"

namespace cairn::codec {
namespace {

template <size_t width>
CAIRN_BODY void split(const uint8_t *__restrict elements, size_t count, uint8_t *__restrict planes) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < width; ++k) planes[k * count + i] = elements[i * width + k];
  }
}
template <size_t width>
CAIRN_BODY void join(const uint8_t *__restrict planes, size_t count, uint8_t *__restrict elements) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < width; ++k) elements[i * width + k] = planes[k * count + i];
  }
}

}  // namespace

void to_byte_planes(const uint8_t *elements, size_t count, size_t width, uint8_t *planes) {
  if (count == 0) return;
  switch (width) {
    case 2:
      return on_this_cpu<split<2>>(elements, count, planes);
    case 4:
      return on_this_cpu<split<4>>(elements, count, planes);
    case 8:
      return on_this_cpu<split<8>>(elements, count, planes);
    default:
      memcpy(planes, elements, count * width);
  }
}

void from_byte_planes(const uint8_t *planes, size_t count, size_t width, uint8_t *elements) {
  if (count == 0) return;
  switch (width) {
    case 2:
      return on_this_cpu<join<2>>(planes, count, elements);
    case 4:
      return on_this_cpu<join<4>>(planes, count, elements);
    case 8:
      return on_this_cpu<join<8>>(planes, count, elements);
    default:
      memcpy(elements, planes, count * width);
  }
}

}  // namespace cairn::codec
