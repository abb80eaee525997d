#include "grammar/prefix_sums.h"

namespace cairn::grammar {

TermIndex::TermIndex(const Grammar &grammar) {
  first_.reserve(grammar.rules().size() + 1);
  for (const Body &body : grammar.rules()) {
    first_.push_back(positions_.size());
    uint64_t position = 0;
    for (size_t t = 0; t < body.size(); ++t) {
      if (t != 0 && t % kStride == 0) positions_.push_back(position);
      position += body[t].count * (body[t].is_rule ? grammar.lengths()[body[t].id] : 1);
    }
  }
  first_.push_back(positions_.size());
}

TermIndex::Mark TermIndex::before(uint32_t rule, uint64_t position) const {
  const auto begin = positions_.begin() + static_cast<std::ptrdiff_t>(first_[rule]);
  const auto end = positions_.begin() + static_cast<std::ptrdiff_t>(first_[rule + 1]);
  const auto after = std::upper_bound(begin, end, position);
  if (after == begin) return {};
  return {static_cast<size_t>(after - begin) * kStride, *(after - 1)};
}

}  // namespace cairn::grammar
