// Goes through a course as one rank takes it. Plain function templates; cost: the calls.
#pragma once

#include <cstdint>

#include "extrapolate/course.h"
#include "extrapolate/terms.h"

namespace cairn::extrapolate {

/// The moment in one more loop, inside those that it is in.
inline Moment inside(const Moment &outer, int64_t turn, int64_t turns) {
  Moment inner = outer;
  for (size_t l = Moment::kLoops - 1; l > 0; --l) {
    inner.turn[l] = outer.turn[l - 1];
    inner.turns[l] = outer.turns[l - 1];
  }
  inner.turn[0] = static_cast<int32_t>(turn);
  inner.turns[0] = static_cast<int32_t>(turns);
  return inner;
}

/// `count(item, moment)` says how often an item turns, `call(item, moment)` is told each call.
template <typename Count, typename Call>
void walk(const std::vector<CourseItem> &list, const Moment &moment, const Count &count, const Call &call) {
  for (const CourseItem &item : list) {
    const int64_t turns = count(item, moment);
    for (int64_t turn = 0; turn < turns; ++turn) {
      const Moment here = item.turns ? inside(moment, turn, turns) : moment;
      if (item.is_loop()) {
        walk(item.body, here, count, call);
      } else {
        call(item, here);
      }
    }
  }
}

}  // namespace cairn::extrapolate
