#include "codec/array/delta_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "codec/array/delta_residual.h"

namespace cairn::codec {
namespace {

constexpr size_t kRun = 64;       // values in a row
constexpr size_t kMostRuns = 32;  // of them, over the whole box
constexpr size_t kMostAxes = 4;
constexpr double kWorth = 0.985;

/// The distances from which lags are chosen: one step along each axis that has more than one.
std::vector<size_t> distances(const Grid &grid, size_t count) {
  std::vector<size_t> steps;
  size_t step = 1;
  for (size_t axis = grid.shape.size(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(grid.shape[axis]);
    if (extent > 1 && step < count && steps.size() < kMostAxes) steps.push_back(step);
    step *= extent;
  }
  return steps;
}

uint64_t bits_at(ByteView values, Element element, size_t i) {
  uint64_t bits = 0;
  const size_t size = size_of(element);
  memcpy(&bits, values.data() + i * size, size);
  return bits;
}

/// The value that stands at many places: what files use where there is no value, or zero where there is no ice.
bool find_fill(ByteView values, Element element, size_t count, uint64_t *fill) {
  constexpr size_t kSample = 1024;
  std::vector<uint64_t> some;
  for (size_t i = 0; i < std::min(kSample, count); ++i)
    some.push_back(bits_at(values, element, count <= kSample ? i : count / kSample * i));
  std::sort(some.begin(), some.end());
  size_t most = 0;
  for (size_t i = 0; i < some.size();) {
    size_t end = i;
    while (end < some.size() && some[end] == some[i]) ++end;
    if (end - i > most) {
      most = end - i;
      *fill = some[i];
    }
    i = end;
  }
  return most * 40 > some.size() && most < some.size();
}

/// A sample of a box under one mapping: runs of integers, and for each the integers at every sum of distances before.
template <typename Word>
class Sample {
 public:
  Sample(ByteView values, const Grid &grid, const DeltaPlan &plan, const std::vector<size_t> &steps)
      : values_(values), grid_(grid), plan_(plan), count_(values.size() / size_of(grid.element)) {
    const size_t run = std::min(kRun, count_);
    const size_t runs = std::clamp<size_t>(count_ / (8 * kRun), 1, kMostRuns);
    sums_.resize(size_t{1} << steps.size());
    for (size_t sum = 0; sum < sums_.size(); ++sum) {
      size_t back = 0;
      for (size_t k = 0; k < steps.size(); ++k) back += (sum >> k & 1) != 0 ? steps[k] : 0;
      for (size_t r = 0; r < runs; ++r) add(runs == 1 ? 0 : (count_ - run) / (runs - 1) * r, back, run, &sums_[sum]);
    }
  }

  /// Residuals where nothing that is needed is missing, zigzag. `lags`: a bit for each distance.
  std::vector<Word> residuals(unsigned lags) const {
    const size_t count = sums_[0].integers.size();
    std::vector<Word> result(count);
    std::vector<uint8_t> missing(count);
    for (unsigned sum = lags;; sum = (sum - 1) & lags) {
      const Word sign = std::popcount(sum) % 2 == 0 ? Word(1) : Word(0) - 1;
      for (size_t i = 0; i < count; ++i) result[i] += sign * sums_[sum].integers[i];
      for (size_t i = 0; i < count; ++i) missing[i] |= sums_[sum].missing[i];
      if (sum == 0) break;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
      const Word x = result[i];
      result[kept] = (x << 1) ^ (Word(0) - (x >> (sizeof(Word) * 8 - 1)));
      kept += missing[i] ^ 1U;
    }
    result.resize(kept);
    return result;
  }
  /// Bits a value beside its residual: tail, correction, exception, mask; without those that are missing.
  [[nodiscard]] double beside() const {
    return (tails_ + 48.0 * misfits_ + 5.0 * changes_) / static_cast<double>(sums_[0].integers.size()) +
           correction_bits();
  }
  [[nodiscard]] double present() const {
    return 1 - static_cast<double>(fills_) / static_cast<double>(sums_[0].integers.size());
  }

 private:
  struct Window {
    std::vector<Word> integers;
    std::vector<uint8_t> missing;
  };

  void add(size_t first, size_t back, size_t run, Window *window) {
    Word integers[kRun] = {};
    Word others[kRun] = {};
    uint8_t missing[kRun] = {};
    uint8_t misfits[kRun] = {};
    Word tails[kRun];
    uint8_t widths[kRun] = {};
    uint8_t corrections[kRun] = {};
    // What lies before the first value is zero.
    const size_t zeros = first >= back ? 0 : std::min(run, back - first);
    const size_t at = first + zeros - back;
    const size_t size = size_of(grid_.element);
    const Mapped<Word> mapped{integers + zeros, misfits + zeros, tails, widths, corrections};
    if (zeros < run) {
      if (plan_.by_reference) {
        map_values(plan_.map, grid_.element, grid_.reference.data() + at * size, run - zeros,
                   Mapped<Word>{others + zeros, misfits + zeros, tails, widths, corrections});
      }
      map_values(plan_.map, grid_.element, values_.data() + at * size, run - zeros, mapped);
    }
    for (size_t i = 0; i < run; ++i) {
      const bool fill = i >= zeros && plan_.has_fill && bits_at(values_, grid_.element, at + i - zeros) == plan_.fill;
      missing[i] = static_cast<uint8_t>(fill || misfits[i] != 0);
      window->integers.push_back(integers[i] - others[i]);
      window->missing.push_back(missing[i]);
      if (back != 0) continue;
      changes_ += plan_.has_fill && i > 0 && (missing[i] != missing[i - 1]) ? 1 : 0;
      fills_ += fill ? 1 : 0;
      if (fill) continue;
      misfits_ += misfits[i];
      tails_ += plan_.map.kind == Mapping::fixed ? widths[i] : 0;
      ++corrections_[corrections[i]];
    }
  }

  [[nodiscard]] double correction_bits() const {
    if (plan_.map.kind != Mapping::scaled) return 0;
    double all = 0;
    double sum = 0;
    for (const auto &[value, times] : corrections_) all += times;
    for (const auto &[value, times] : corrections_) sum += times * std::log2(all / times);
    return sum / static_cast<double>(sums_[0].integers.size());
  }

  ByteView values_;
  Grid grid_;
  DeltaPlan plan_;
  size_t count_;
  std::vector<Window> sums_;
  double tails_ = 0;
  double misfits_ = 0;
  double changes_ = 0;
  size_t fills_ = 0;
  std::map<uint8_t, double> corrections_;
};

/// Nearly: by the exponent of a float, which compilers put into vectors.
template <typename Word>
double mean_bits(const std::vector<Word> &residuals) {
  int64_t sum = 0;
  for (const Word x : residuals) {
    if constexpr (sizeof(Word) == 4) {
      const auto half = static_cast<float>(static_cast<int32_t>(x >> 1));
      sum += (std::bit_cast<int32_t>(half) >> 23) & 0xff;
    } else {
      sum += std::bit_width(x);
    }
  }
  return residuals.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(residuals.size());
}

/// The best lags for what `plan` says beside them, and the bits that it takes then.
template <typename Word>
DeltaPlan with_lags(ByteView values, const Grid &grid, DeltaPlan plan, const std::vector<size_t> &steps) {
  const Sample<Word> sample(values, grid, plan, steps);
  unsigned best = 0;
  double least = mean_bits(sample.residuals(0));
  // One more lag at a time, as long as that helps.
  for (size_t round = 0; round < kMaxLags; ++round) {
    const unsigned before = best;
    for (size_t k = 0; k < steps.size(); ++k) {
      const unsigned lags = before | 1U << k;
      if (lags == before) continue;
      const std::vector<Word> residuals = sample.residuals(lags);
      if (residuals.empty()) continue;
      const double bits = mean_bits(residuals);
      if (bits < least) {
        least = bits;
        best = lags;
      }
    }
    if (best == before) break;
  }
  plan.lags = {};
  for (size_t k = 0; k < steps.size(); ++k) {
    if ((best >> k & 1) != 0) plan.lags.of[plan.lags.count++] = steps[k];
  }
  const std::vector<Word> residuals = sample.residuals(best);
  plan.bits = sample.present() * estimated_bits(residuals.data(), residuals.size()) + sample.beside();
  return plan;
}

/// Some values as numbers, without the fill.
std::vector<double> numbers(ByteView values, const Grid &grid, size_t count, const DeltaPlan &plan) {
  constexpr size_t kSome = 2048;
  std::vector<double> some;
  const size_t runs = std::max<size_t>(std::min(count, kSome) / kRun, 1);
  const size_t run = std::min(count, kRun);
  for (size_t r = 0; r < runs; ++r) {
    const size_t first = runs == 1 ? 0 : (count - run) / (runs - 1) * r;
    for (size_t i = first; i < first + run; ++i) {
      const uint64_t bits = bits_at(values, grid.element, i);
      if (plan.has_fill && bits == plan.fill) continue;
      const double x = grid.element == Element::f32
                           ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)))
                           : std::bit_cast<double>(bits);
      // Missing values that are none of the most frequent, and what is no number.
      if (std::isfinite(x) && std::abs(x) < 1e9) some.push_back(x);
    }
  }
  return some;
}

template <typename Word>
DeltaPlan choose(ByteView values, const Grid &grid, size_t count) {
  const std::vector<size_t> steps = distances(grid, count);
  DeltaPlan best;
  best.bits = 1e9;
  const auto consider = [&](const DeltaPlan &plan) {
    const DeltaPlan other = with_lags<Word>(values, grid, plan, steps);
    // Whatever is not the plainest takes time, too: it has to be worth it.
    if (other.bits < kWorth * best.bits) best = other;
  };
  DeltaPlan plan;
  if (find_fill(values, grid.element, count, &plan.fill)) {
    consider(plan);
    plan.has_fill = true;
  }
  consider(plan);
  plan = best;
  if (is_float(grid.element)) {
    const std::vector<double> some = numbers(values, grid, count, plan);
    double largest = 0;
    for (const double x : some) largest = std::max(largest, std::abs(x));
    const bool single = grid.element == Element::f32;
    if (largest > 0) {
      plan.map.kind = Mapping::fixed;
      // One binary order more than the sample needs: a bit moves into the tail, which costs nothing.
      plan.map.shift = (single ? 23 : 52) - std::ilogb(largest) - 1;
      if (valid(plan.map, grid.element)) consider(plan);
    }
    plan.map.kind = Mapping::scaled;
    if (find_step(some, single ? 24 : 53, &plan.map.base, &plan.map.step) && valid(plan.map, grid.element)) {
      // Decimals are exact where what was found is so but nearly.
      const double power = std::pow(10.0, std::round(std::log10(plan.map.step)));
      if (std::abs(plan.map.step / power - 1) < 1e-3 &&
          std::abs(plan.map.base / power - std::round(plan.map.base / power)) < 0.01) {
        plan.map.base = 0;
        plan.map.step = power;
      }
      consider(plan);
    }
  }
  if (!grid.reference.empty()) {
    plan = best;
    plan.by_reference = true;
    consider(plan);
  }
  return best;
}

constexpr uint8_t kMapping = 3;
constexpr uint8_t kHasFill = 4;
constexpr uint8_t kByReference = 8;
constexpr unsigned kLagsShift = 4;

}  // namespace

DeltaPlan choose_delta_plan(ByteView values, const Grid &grid) {
  const size_t count = values.size() / size_of(grid.element);
  if (count == 0) return {};
  return size_of(grid.element) == 8 ? choose<uint64_t>(values, grid, count) : choose<uint32_t>(values, grid, count);
}

void write_plan(const DeltaPlan &plan, Element element, Bytes *out) {
  ByteWriter front;
  front.byte(static_cast<uint8_t>(static_cast<unsigned>(plan.map.kind) | (plan.has_fill ? kHasFill : 0U) |
                                  (plan.by_reference ? kByReference : 0U) | plan.lags.count << kLagsShift));
  for (size_t i = 0; i < plan.lags.count; ++i) front.varint(plan.lags.of[i]);
  if (plan.map.kind == Mapping::fixed) front.signed_varint(plan.map.shift);
  if (plan.map.kind == Mapping::scaled) {
    front.fixed64(std::bit_cast<uint64_t>(plan.map.base));
    front.fixed64(std::bit_cast<uint64_t>(plan.map.step));
  }
  if (plan.has_fill) {
    for (size_t i = 0; i < size_of(element); ++i) front.byte(static_cast<uint8_t>(plan.fill >> (8 * i)));
  }
  out->insert(out->end(), front.view().begin(), front.view().end());
}

bool read_plan(ByteReader &in, Element element, size_t count, bool has_reference, DeltaPlan *plan) {
  const uint8_t flags = in.byte();
  const unsigned kind = flags & kMapping;
  plan->lags.count = flags >> kLagsShift;
  if (in.failed() || kind > 2 || plan->lags.count > kMaxLags) return false;
  plan->map.kind = static_cast<Mapping>(kind);
  plan->has_fill = (flags & kHasFill) != 0;
  plan->by_reference = (flags & kByReference) != 0;
  for (size_t i = 0; i < plan->lags.count; ++i) {
    const uint64_t lag = in.varint();
    if (lag == 0 || lag >= count || (i > 0 && lag <= plan->lags.of[i - 1])) return false;
    plan->lags.of[i] = static_cast<size_t>(lag);
  }
  if (plan->map.kind == Mapping::fixed) {
    const int64_t shift = in.signed_varint();
    if (shift < -10000 || shift > 10000) return false;
    plan->map.shift = static_cast<int>(shift);
  }
  if (plan->map.kind == Mapping::scaled) {
    plan->map.base = std::bit_cast<double>(in.fixed64());
    plan->map.step = std::bit_cast<double>(in.fixed64());
  }
  for (size_t i = 0; plan->has_fill && i < size_of(element); ++i)
    plan->fill |= static_cast<uint64_t>(in.byte()) << (8 * i);
  return !in.failed() && valid(plan->map, element) && (!plan->by_reference || has_reference);
}

}  // namespace cairn::codec
