#include "blocks/place.h"

#include <algorithm>
#include <cmath>

namespace cairn::blocks {

std::optional<DensePlace> place_dense(const Calls &calls, uint64_t base, uint64_t own, uint64_t alignment) {
  const bool aligned = alignment > 1;
  if (aligned) base = (base + alignment - 1) / alignment * alignment;
  // Ranks with little share stripes: all of them on stripes of their own would be mostly holes.
  const uint64_t room = aligned && own >= alignment ? (own + alignment - 1) / alignment * alignment : own;
  // Those with stripes of their own come first, so that they begin at one.
  const bool striped = aligned && own >= alignment;
  uint64_t striped_below = 0;
  uint64_t rest_below = 0;
  uint64_t sums[2] = {striped ? room : 0, striped ? 0 : room};
  if (aligned && !calls.sum_below(calls.context, sums[0], &striped_below)) return std::nullopt;
  if (!calls.sum_below(calls.context, sums[1], &rest_below)) return std::nullopt;
  if (!calls.sum(calls.context, sums, 2)) return std::nullopt;
  DensePlace place;
  place.begin = striped ? base + striped_below : base + sums[0] + rest_below;
  place.end = base + sums[0] + sums[1];
  return place;
}

void Extents::move(uint64_t base) {
  if (base <= base_) return;
  base_ = base;
  next_ = 0;
}

uint64_t Extents::take(uint64_t bytes) {
  if (bytes > left_) {
    at_ = base_ + (next_++ * ranks_ + rank_) * size_;
    left_ = size_;
  }
  const uint64_t begin = at_;
  at_ += bytes;
  left_ -= std::min(bytes, left_);
  end_ = std::max(end_, at_);
  return begin;
}

uint64_t extent_size(uint64_t split, double ratio, double error) {
  constexpr uint64_t kPage = 4096;
  constexpr double kSplits = 4;
  const double divisor = std::max(ratio - error, 0.01);
  const double bytes = std::ceil(kSplits * static_cast<double>(split) / divisor);
  const uint64_t most = split * 64;
  const uint64_t size = bytes > static_cast<double>(most) ? most : static_cast<uint64_t>(bytes);
  return std::max((size + kPage - 1) / kPage * kPage, kPage);
}

}  // namespace cairn::blocks
