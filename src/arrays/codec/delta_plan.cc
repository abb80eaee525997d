#include "arrays/codec/delta_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "arrays/codec/delta_sample.h"

namespace cairn::codec {
namespace {

constexpr double kWorth = 0.985;

/// The value that stands at many places of a sample: what files use where there is no value, or zero where there is no
/// ice.
template <typename T>
bool find_fill_of(ByteView values, uint64_t *fill) {
  constexpr size_t kSample = 1024;
  constexpr size_t kTable = 2048;
  struct Slot {
    T value;
    uint16_t times;
  };
  const std::unique_ptr<Slot[]> table(new Slot[kTable]());
  const size_t count = values.size() / sizeof(T);
  const size_t some = std::min(kSample, count);
  const size_t step = count / some;
  size_t most = 0;
  T best = 0;
  for (size_t i = 0; i < some; ++i) {
    T value;
    memcpy(&value, values.data() + i * step * sizeof(T), sizeof(T));
    size_t at = static_cast<size_t>(uint64_t{value} * 0x9e3779b97f4a7c15ULL >> 53);
    while (table[at].times != 0 && table[at].value != value) at = (at + 1) % kTable;
    table[at].value = value;
    if (++table[at].times <= most) continue;
    most = table[at].times;
    best = value;
  }
  *fill = best;
  return most * 40 > some && most < some;
}
bool find_fill(ByteView values, Element element, uint64_t *fill) {
  switch (size_of(element)) {
    case 1:
      return find_fill_of<uint8_t>(values, fill);
    case 2:
      return find_fill_of<uint16_t>(values, fill);
    case 4:
      return find_fill_of<uint32_t>(values, fill);
    default:
      return find_fill_of<uint64_t>(values, fill);
  }
}

/// The values of a sample as numbers, without the fill.
template <typename Real>
std::vector<double> numbers(ByteView values, const DeltaPlan &plan) {
  std::vector<double> some;
  some.reserve(values.size() / sizeof(Real));
  for (size_t at = 0; at < values.size(); at += sizeof(Real)) {
    Real value;
    uint64_t bits = 0;
    memcpy(&value, values.data() + at, sizeof(Real));
    memcpy(&bits, values.data() + at, sizeof(Real));
    const auto x = static_cast<double>(value);
    // Without missing values that are none of the most frequent, and what is no number.
    if (std::abs(x) < 1e9 && !(plan.has_fill && bits == plan.fill)) some.push_back(x);
  }
  return some;
}

/// Decimals are exact where what was found is so but nearly.
void make_decimal(ValueMap *map) {
  const double power = std::pow(10.0, std::round(std::log10(map->step)));
  if (std::abs(map->step / power - 1) < 1e-3 && std::abs(map->base / power - std::round(map->base / power)) < 0.01) {
    map->base = 0;
    map->step = power;
  }
}

template <typename Word>
DeltaPlan choose(ByteView values, const Grid &grid) {
  DeltaSample<Word> sample(values, grid);
  DeltaPlan plan;
  plan.has_fill = find_fill(sample.values(), grid.element, &plan.fill);
  std::vector<double> some;
  double largest = 0;
  double least = 0;
  if (is_float(grid.element)) {
    some =
        grid.element == Element::f32 ? numbers<float>(sample.values(), plan) : numbers<double>(sample.values(), plan);
    for (const double x : some) largest = std::max(largest, x);
    for (const double x : some) least = std::min(least, x);
  }
  const int digits = grid.element == Element::f32 ? 24 : 53;
  // One binary order more than the sample needs: a bit moves into the tail, which costs nothing.
  const double size = std::max(largest, -least);
  ValueMap fixed{Mapping::fixed, size > 0 ? digits - 2 - std::ilogb(size) : 0};
  const bool has_fixed = size > 0 && valid(fixed, grid.element);
  // Which lags are good shows where neither zero nor missing values are in the way. The same are good for others.
  const bool crossing = has_fixed && least < -0.01 * largest && largest > -0.01 * least;
  if (crossing) plan.map = fixed;
  DeltaPlan best = sample.with_best_lags(plan);
  const auto consider = [&](const DeltaPlan &other) {
    // Whatever is not the plainest takes time, too: it has to be worth it.
    if (other.bits < kWorth * best.bits) best = other;
  };
  if (best.has_fill) {
    DeltaPlan without = best;
    without.has_fill = false;
    without = sample.with_its_lags(without);
    if (without.bits * kWorth <= best.bits) best = without;
  }
  if (crossing) {
    DeltaPlan ordered = best;
    ordered.map = {};
    ordered = sample.with_its_lags(ordered);
    if (ordered.bits * kWorth <= best.bits) best = ordered;
  } else if (has_fixed) {
    plan = best;
    plan.map = fixed;
    consider(sample.with_its_lags(plan));
  }
  plan = best;
  plan.map = {Mapping::scaled};
  if (find_step(std::move(some), digits, &plan.map.base, &plan.map.step) && valid(plan.map, grid.element)) {
    make_decimal(&plan.map);
    consider(sample.with_best_lags(plan));
  }
  if (!grid.reference.empty()) {
    plan = best;
    plan.by_reference = true;
    consider(sample.with_best_lags(plan));
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
  return size_of(grid.element) == 8 ? choose<uint64_t>(values, grid) : choose<uint32_t>(values, grid);
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
