#include "arrays/codec/delta_sample.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "arrays/codec/cpu.h"
#include "arrays/codec/delta_residual.h"
#include "arrays/codec/mask.h"

namespace cairn::codec {
namespace {

constexpr size_t kRun = 32;
constexpr size_t kLeastRuns = 40;  // over the whole box, unless it is small
constexpr size_t kMostRuns = 64;   // and if it is large
constexpr size_t kMostAxes = 4;

std::vector<size_t> steps_of(const Grid &grid, size_t count) {
  std::vector<size_t> steps;
  size_t step = 1;
  for (size_t axis = grid.shape.size(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(grid.shape[axis]);
    if (extent > 1 && step < count && steps.size() < kMostAxes) steps.push_back(step);
    step *= extent;
  }
  return steps;
}

template <typename Word>
CAIRN_BODY Word fold(Word x) {
  return (x << 1) ^ (Word(0) - (x >> (sizeof(Word) * 8 - 1)));
}

/// The mean logarithm (to base 2) of differences of either sign, without those that are missing. Nearly: exponent and
/// mantissa of a float are one, which compilers put into vectors.
template <typename Word>
CAIRN_BODY double mean_bits_body(const Word *x, const Word *before, const uint8_t *missing, const uint8_t *others,
                                 size_t count) {
  constexpr int32_t kOne = 127 << 10;
  int32_t sum = 0;
  int32_t present = 0;
  for (size_t i = 0; i < count; ++i) {
    const int32_t there = (missing[i] | others[i]) - 1;  // no bits, or all
    const Word half = fold(static_cast<Word>(x[i] - before[i])) >> 1;
    const float size = static_cast<float>(static_cast<std::make_signed_t<Word>>(half)) * 2 + 1;
    sum += ((std::bit_cast<int32_t>(size) >> 13) - kOne) & there;
    present += there & 1;
  }
  return present == 0 ? 1e9 : static_cast<double>(sum) / (1024.0 * present);
}

template <typename Word>
CAIRN_BODY void take_body(Word *__restrict x, const Word *__restrict before, uint8_t *__restrict missing,
                          const uint8_t *__restrict others, size_t count) {
  for (size_t i = 0; i < count; ++i) x[i] -= before[i];
  for (size_t i = 0; i < count; ++i) missing[i] |= others[i];
}

}  // namespace

template <typename Word>
DeltaSample<Word>::DeltaSample(ByteView values, const Grid &grid)
    : element_(grid.element), size_(size_of(grid.element)) {
  const size_t count = values.size() / size_;
  run_ = std::min(kRun, count);
  const size_t runs =
      std::clamp<size_t>(count / (128 * kRun), std::clamp<size_t>(count / (8 * kRun), 1, kLeastRuns), kMostRuns);
  total_ = runs * run_;
  steps_ = steps_of(grid, count);
  // One from each part of the box, not at equal distances: those could be whole rows.
  const size_t part = count / runs;
  uint64_t random = 1;
  for (size_t r = 0; r < runs; ++r) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    firsts_.push_back(part * r + (random >> 32) * (part - run_ + 1) / (uint64_t{1} << 32));
  }
  const size_t all = total_ << steps_.size();
  const auto bytes = [all] { return Reused<uint8_t>(all + 8); };
  const auto words = [all] { return Reused<Word>(all); };
  raw_ = Reused<uint8_t>(all * size_);
  fill(values, raw_.get());
  if (!grid.reference.empty()) {
    reference_ = Reused<uint8_t>(all * size_);
    fill(grid.reference, reference_.get());
    others_ = words();
  }
  integers_ = words();
  tails_ = words();
  missing_ = bytes();
  fills_ = bytes();
  widths_ = bytes();
  corrections_ = bytes();
}

/// Calls `run(first, back, before)` for the runs and those at every sum of steps before them, in order: it would begin
/// `back` before `first`, but `before` of its values lie before the box.
template <typename Word>
template <typename Run>
void DeltaSample<Word>::each_run(Run run) const {
  for (size_t sum = 0; sum < size_t{1} << steps_.size(); ++sum) {
    size_t back = 0;
    for (size_t k = 0; k < steps_.size(); ++k) back += (sum >> k & 1) != 0 ? steps_[k] : 0;
    for (const size_t first : firsts_) run(first, back, first >= back ? 0 : std::min(run_, back - first));
  }
}

template <typename Word>
void DeltaSample<Word>::fill(ByteView from, uint8_t *to) const {
  each_run([&](size_t first, size_t back, size_t before) {
    memset(to, 0, before * size_);
    if (before < run_)
      memcpy(to + before * size_, from.data() + (first + before - back) * size_, (run_ - before) * size_);
    to += run_ * size_;
  });
}

template <typename Word>
void DeltaSample<Word>::map(const DeltaPlan &plan) {
  const size_t all = total_ << steps_.size();
  if (plan.by_reference) {
    map_values(plan.map, element_, reference_.get(), all,
               Mapped<Word>{others_.get(), missing_.get(), tails_.get(), widths_.get(), corrections_.get()});
  }
  map_values(plan.map, element_, raw_.get(), all,
             Mapped<Word>{integers_.get(), missing_.get(), tails_.get(), widths_.get(), corrections_.get()});
  if (plan.by_reference) take_body(integers_.get(), others_.get(), missing_.get(), missing_.get(), all);
  if (plan.has_fill) mark_fill(size_, raw_.get(), all, plan.fill, fills_.get());
  count_beside(plan);
  if (plan.has_fill) join_held(missing_.get(), fills_.get(), all);
  // What lies before the first value is zero, and not missing.
  size_t at = 0;
  each_run([&](size_t /*first*/, size_t /*back*/, size_t before) {
    std::fill_n(integers_.get() + at, before, Word(0));
    std::fill_n(missing_.get() + at, before, uint8_t{0});
    at += run_;
  });
}

/// Of the values themselves; what is missing as the fill has neither tail nor correction.
template <typename Word>
void DeltaSample<Word>::count_beside(const DeltaPlan &plan) {
  uint32_t tails = 0;
  uint32_t misfits = 0;
  uint32_t changes = 0;
  uint32_t fills = 0;
  std::array<uint32_t, 256> corrections = {};
  if (plan.has_fill) {
    for (size_t i = 0; i < total_; ++i) fills += fills_[i];
    for (size_t i = 0; i < total_; i += run_) {
      for (size_t k = i + 1; k < i + run_; ++k) changes += fills_[k] ^ fills_[k - 1];
    }
  } else {
    memset(fills_.get(), 0, total_);
  }
  for (size_t i = 0; i < total_; ++i) misfits += missing_[i] & (fills_[i] ^ 1U);
  if (plan.map.kind == Mapping::fixed) {
    for (size_t i = 0; i < total_; ++i) tails += widths_[i] & (fills_[i] - 1U);
  }
  if (plan.map.kind == Mapping::scaled) {
    for (size_t i = 0; i < total_; ++i) corrections[corrections_[i]] += fills_[i] ^ 1U;
  }
  const auto number = static_cast<double>(total_);
  double sum = 0;
  for (const uint32_t n : corrections) sum += n > 0 ? n * std::log2((number - static_cast<double>(fills)) / n) : 0;
  present_ = 1 - static_cast<double>(fills) / number;
  beside_ = ((tails + 48.0 * misfits + 5.0 * changes) + sum) / number;
}

template <typename Word>
void DeltaSample<Word>::take_lag(size_t step) {
  const size_t bit = size_t{1} << step;
  for (size_t sum = 0; sum < size_t{1} << steps_.size(); ++sum) {
    if ((sum & bit) != 0) continue;
    take_body(integers_.get() + sum * total_, integers_.get() + (sum | bit) * total_, missing_.get() + sum * total_,
              missing_.get() + (sum | bit) * total_, total_);
  }
}

template <typename Word>
double DeltaSample<Word>::mean_bits(size_t step) const {
  const size_t other = total_ << step;
  return on_this_cpu<mean_bits_body<Word>>(integers_.get(), integers_.get() + other, missing_.get(),
                                           missing_.get() + other, total_);
}
template <typename Word>
double DeltaSample<Word>::mean_bits() const {
  const Reused<Word> zeros(total_);
  std::fill_n(zeros.get(), total_, Word(0));
  return on_this_cpu<mean_bits_body<Word>>(integers_.get(), zeros.get(), missing_.get(), missing_.get(), total_);
}

template <typename Word>
double DeltaSample<Word>::bits() {
  size_t kept = 0;
  for (size_t i = 0; i < total_; ++i) {
    tails_[kept] = fold(integers_[i]);
    kept += missing_[i] ^ 1U;
  }
  return present_ * estimated_bits(tails_.get(), kept) + beside_;
}

template <typename Word>
DeltaPlan DeltaSample<Word>::with_best_lags(const DeltaPlan &plan) {
  map(plan);
  DeltaPlan best = plan;
  best.lags = {};
  best.bits = bits();
  double least = mean_bits();
  unsigned taken = 0;
  // One more lag at a time, as long as that helps: by the sizes of residuals, and then by what codes make of them.
  while (best.lags.count < kMaxLags) {
    size_t step = steps_.size();
    for (size_t k = 0; k < steps_.size(); ++k) {
      if ((taken >> k & 1) != 0) continue;
      const double bits = mean_bits(k);
      if (bits >= least) continue;
      least = bits;
      step = k;
    }
    if (step == steps_.size()) break;
    taken |= 1U << step;
    take_lag(step);
    DeltaPlan next = plan;
    next.lags = {};
    for (size_t k = 0; k < steps_.size(); ++k) {
      if ((taken >> k & 1) != 0) next.lags.of[next.lags.count++] = steps_[k];
    }
    next.bits = bits();
    if (next.bits >= best.bits) break;
    best = next;
  }
  return best;
}

template <typename Word>
DeltaPlan DeltaSample<Word>::with_its_lags(const DeltaPlan &plan) {
  map(plan);
  for (size_t i = 0; i < plan.lags.count; ++i)
    take_lag(static_cast<size_t>(std::find(steps_.begin(), steps_.end(), plan.lags.of[i]) - steps_.begin()));
  DeltaPlan result = plan;
  result.bits = bits();
  return result;
}

template class DeltaSample<uint32_t>;
template class DeltaSample<uint64_t>;

}  // namespace cairn::codec
