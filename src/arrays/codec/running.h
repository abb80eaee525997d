// What comes back from differences over a distance: each element joined (by a sum, or by XOR) with the result that
// distance before it. Over a short one the last results stay in registers, with a loop for each such distance; over a
// long one vectors hold what does not depend on each other. Inside of vectors, in steps of one, two and four distances
// by hand, it was no quicker: 0.26 to 0.61 ns an element, where this takes 0.21 to 0.35.
#pragma once

#include <algorithm>
#include <cstddef>

#include "arrays/codec/cpu.h"

namespace cairn::codec {

template <size_t distance, typename Word, typename Join>
CAIRN_BODY void join_each(Word *now, const Word *rest, size_t count, Join join) {
  Word last[distance];
  std::copy(now - distance, now, last);
  size_t i = 0;
  for (; i + distance <= count; i += distance) {
    for (size_t k = 0; k < distance; ++k) now[i + k] = last[k] = join(rest[i + k], last[k]);
  }
  for (size_t k = 0; i + k < count; ++k) now[i + k] = join(rest[i + k], last[k]);
}

/// now[i] = rest[i] joined with now[i - distance]. There is a distance before the first.
template <typename Word, typename Join>
CAIRN_BODY void join_running(Word *now, const Word *rest, size_t distance, size_t count, Join join) {
  switch (distance) {
    case 1:
      return join_each<1>(now, rest, count, join);
    case 2:
      return join_each<2>(now, rest, count, join);
    case 3:
      return join_each<3>(now, rest, count, join);
    case 4:
      return join_each<4>(now, rest, count, join);
    case 5:
      return join_each<5>(now, rest, count, join);
    case 6:
      return join_each<6>(now, rest, count, join);
    case 7:
      return join_each<7>(now, rest, count, join);
    default:
      break;
  }
  for (size_t at = 0; at < count; at += distance) {
    const size_t size = std::min(distance, count - at);
    Word *__restrict to = now + at;
    const Word *from = now + at - distance;
    for (size_t i = 0; i < size; ++i) to[i] = join(rest[at + i], from[i]);
  }
}

}  // namespace cairn::codec
