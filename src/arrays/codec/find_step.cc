#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "arrays/codec/delta_plan.h"

namespace cairn::codec {
namespace {

/// By their bytes, the lowest first, where not all are the same: some thousand numbers take a fifth of the time that
/// comparing them does.
void sort_numbers(std::vector<double> *numbers) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const size_t count = numbers->size();
  std::vector<uint64_t> keys(count);
  std::vector<uint64_t> others(count);
  std::array<std::array<uint32_t, 256>, 8> places = {};
  for (size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint64_t>((*numbers)[i]);
    keys[i] = (bits & kSign) != 0 ? ~bits : bits | kSign;
    for (size_t k = 0; k < 8; ++k) ++places[k][keys[i] >> (8 * k) & 0xff];
  }
  for (size_t k = 0; k < 8; ++k) {
    if (count == 0 || places[k][keys[0] >> (8 * k) & 0xff] == count) continue;
    uint32_t next = 0;
    for (uint32_t &place : places[k]) next += std::exchange(place, next);
    for (const uint64_t key : keys) others[places[k][key >> (8 * k) & 0xff]++] = key;
    keys.swap(others);
  }
  for (size_t i = 0; i < count; ++i)
    (*numbers)[i] = std::bit_cast<double>((keys[i] & kSign) != 0 ? keys[i] & ~kSign : ~keys[i]);
}

}  // namespace

// The smallest difference of neighbours in order is the step, or a small multiple of it. Each larger difference is then
// a whole number of steps, and makes the step more exact.
bool find_step(std::vector<double> numbers, int digits, double *base, double *step) {
  std::erase_if(numbers, [](double x) { return !std::isfinite(x); });
  sort_numbers(&numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() < 8) return false;
  const double largest = std::max(std::abs(numbers.front()), std::abs(numbers.back()));
  const double rounding = std::ldexp(largest, -digits);
  std::vector<double> gaps;
  gaps.reserve(numbers.size());
  for (size_t i = 1; i < numbers.size(); ++i) gaps.push_back(numbers[i] - numbers[i - 1]);
  if (!(*std::min_element(gaps.begin(), gaps.end()) > 4 * rounding)) return false;  // no step that could be told
  sort_numbers(&gaps);
  for (const int part : {1, 2, 3}) {
    double steps = part;
    double length = gaps.front();
    size_t bad = 0;
    const size_t most = gaps.size() / 50;
    for (size_t i = 1; i < gaps.size() && bad <= most; ++i) {
      const double times = gaps[i] * steps / length;
      const double whole = std::floor(times + 0.5);
      if (std::abs(times - whole) > 0.2) {
        ++bad;
        continue;
      }
      steps += whole;
      length += gaps[i];
    }
    const double found = length / steps;
    if (bad > most || !(found > 8 * rounding)) continue;
    double sum = 0;
    for (const double x : numbers) sum += x - std::round((x - numbers.front()) / found) * found;
    *base = sum / static_cast<double>(numbers.size());
    *step = found;
    return true;
  }
  return false;
}

}  // namespace cairn::codec
