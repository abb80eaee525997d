// Products and sums of counts as MPI is given them: nothing where one is negative, or where the result is no count any
// more. Plain functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cairn::analyze {

inline std::optional<int64_t> product(int64_t a, int64_t b) {
  int64_t result = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<int64_t> product(const std::vector<int64_t> &factors) {
  std::optional<int64_t> result = 1;
  for (const int64_t factor : factors) {
    if (result) result = product(*result, factor);
  }
  return result;
}
inline std::optional<int64_t> sum(const std::vector<int64_t> &terms) {
  int64_t result = 0;
  for (const int64_t term : terms) {
    if (term < 0 || __builtin_add_overflow(result, term, &result)) return std::nullopt;
  }
  return result;
}

}  // namespace cairn::analyze
