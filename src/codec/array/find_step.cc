#include <algorithm>
#include <cmath>

#include "codec/array/delta_plan.h"

namespace cairn::codec {

// The smallest difference of neighbours in order is the step, or a small multiple of it. Each larger difference is then
// a whole number of steps, and makes the step more exact.
bool find_step(std::vector<double> numbers, int digits, double *base, double *step) {
  std::erase_if(numbers, [](double x) { return !std::isfinite(x); });
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() < 8) return false;
  const double largest = std::max(std::abs(numbers.front()), std::abs(numbers.back()));
  const double rounding = std::ldexp(largest, -digits);
  std::vector<double> gaps;
  for (size_t i = 1; i < numbers.size(); ++i) gaps.push_back(numbers[i] - numbers[i - 1]);
  std::sort(gaps.begin(), gaps.end());
  for (const int part : {1, 2, 3}) {
    double steps = part;
    double length = gaps.front();
    size_t bad = 0;
    for (size_t i = 1; i < gaps.size(); ++i) {
      const double now = length / steps;
      const double whole = std::round(gaps[i] / now);
      if (std::abs(gaps[i] / now - whole) > 0.2) {
        ++bad;
        continue;
      }
      steps += whole;
      length += gaps[i];
    }
    const double found = length / steps;
    if (bad * 50 > gaps.size() || !(found > 8 * rounding)) continue;
    double sum = 0;
    for (const double x : numbers) sum += x - std::round((x - numbers.front()) / found) * found;
    *base = sum / static_cast<double>(numbers.size());
    *step = found;
    return true;
  }
  return false;
}

}  // namespace cairn::codec
