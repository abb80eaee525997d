#include "timing/binning.h"

#include <algorithm>
#include <cassert>

namespace cairn::timing {

Binning::Binning(uint32_t bound) : bound_(bound) {
  assert(bound == 0 || (bound >= kLeastBound && bound <= kMostBound));
  if (exact()) return;
  __extension__ using Wide = unsigned __int128;
  constexpr Wide kAll = 1'000'000;
  constexpr Wide kGreatest = UINT64_MAX;
  first_ = value_ = {0};
  for (Wide first = 1; first <= kGreatest;) {
    const Wide value = std::min(first + first * bound / kAll, kGreatest);
    first_.push_back(static_cast<uint64_t>(first));
    value_.push_back(static_cast<uint64_t>(value));
    first = bound == kAll ? kGreatest + 1 : value * kAll / (kAll - bound) + 1;
  }
  const auto bin_of = [&](uint64_t value) {
    return static_cast<uint32_t>(std::upper_bound(first_.begin(), first_.end(), value) - first_.begin() - 1);
  };
  constexpr size_t kFew = size_t{2} << kCellBits;
  for (size_t cell = 0; cell + 1 < cells_.size(); ++cell) {
    const size_t shift = cell < kFew ? 0 : (cell >> kCellBits) - 1;
    const uint64_t leading = cell < kFew ? cell : (1U << kCellBits) + (cell & ((1U << kCellBits) - 1));
    cells_[cell] = bin_of(leading << shift);
  }
  cells_.back() = count() - 1;
}

}  // namespace cairn::timing
