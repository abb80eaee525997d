#include "analyze/fewest_edits.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>

namespace cairn::analyze {
namespace {

constexpr ptrdiff_t kNowhere = -1;

/// How far so many edits lead on each diagonal: on diagonal k to (x, x − k); kNowhere: not there.
class Reached {
 public:
  Reached(ptrdiff_t first, ptrdiff_t second)
      : offset_(second + 1), x_(static_cast<size_t>(first + second + 3), kNowhere) {}
  ptrdiff_t &on(ptrdiff_t diagonal) { return x_[static_cast<size_t>(diagonal + offset_)]; }
  [[nodiscard]] ptrdiff_t on(ptrdiff_t diagonal) const { return x_[static_cast<size_t>(diagonal + offset_)]; }

 private:
  ptrdiff_t offset_;
  std::vector<ptrdiff_t> x_;
};

struct Move {
  ptrdiff_t x = kNowhere;
  Edit edit = Edit::first;
};

}  // namespace

std::vector<Edit> fewest_edits(const EditedPart &first, const EditedPart &second,
                               const std::function<bool(size_t, size_t)> &alike) {
  const ptrdiff_t a = static_cast<ptrdiff_t>(first.items);
  const ptrdiff_t b = static_cast<ptrdiff_t>(second.items);
  const auto is_end = [&](ptrdiff_t x, ptrdiff_t y) {
    if (first.is_all && second.is_all) return x == a && y == b;
    return (x == a && !first.is_all) || (y == b && !second.is_all);
  };
  // The edit that leads furthest on a diagonal, from where one fewer led.
  const auto move_to = [&](const Reached &fewer, ptrdiff_t k) {
    Move best;
    const ptrdiff_t left = fewer.on(k - 1);
    if (left != kNowhere && left < a) best = {left + 1, Edit::first};
    const ptrdiff_t above = fewer.on(k + 1);
    if (above != kNowhere && above - k <= b && above > best.x) best = {above, Edit::second};
    return best;
  };

  std::vector<Reached> by_edits;
  std::optional<ptrdiff_t> end;  // the diagonal; of several that with most that is alike
  for (ptrdiff_t edits = 0; !end; ++edits) {
    assert(edits <= a + b);
    Reached now(a, b);
    for (ptrdiff_t k = -std::min(edits, b); k <= std::min(edits, a); ++k) {
      if ((k - edits) % 2 != 0) continue;
      ptrdiff_t x = edits == 0 ? 0 : move_to(by_edits.back(), k).x;
      if (x == kNowhere) continue;
      while (x < a && x - k < b && alike(static_cast<size_t>(x), static_cast<size_t>(x - k))) ++x;
      now.on(k) = x;
      const bool further = !end || 2 * x - k > 2 * now.on(*end) - *end;
      if (is_end(x, x - k) && further) end = k;
    }
    by_edits.push_back(std::move(now));
  }

  std::vector<Edit> backwards;
  ptrdiff_t k = *end;
  for (size_t edits = by_edits.size() - 1;; --edits) {
    const Move move = edits == 0 ? Move{0, Edit::both} : move_to(by_edits[edits - 1], k);
    backwards.insert(backwards.end(), static_cast<size_t>(by_edits[edits].on(k) - move.x), Edit::both);
    if (edits == 0) break;
    backwards.push_back(move.edit);
    k += move.edit == Edit::first ? -1 : 1;
  }
  return {backwards.rbegin(), backwards.rend()};
}

}  // namespace cairn::analyze
