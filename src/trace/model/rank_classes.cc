#include "trace/model/rank_classes.h"

#include <algorithm>

namespace cairn::trace {

RankClasses::RankClasses(const std::vector<ClassPart> &classes) {
  constexpr uint64_t kFew = 256;
  for (uint32_t i = 0; i < classes.size(); ++i) {
    if (classes[i].ranks.size() > kFew) {
      many_.push_back(i);
      continue;
    }
    for (const uint32_t rank : classes[i].ranks.expand()) few_.emplace_back(rank, i);
  }
  std::sort(few_.begin(), few_.end());
}

std::vector<RankClasses::Place> RankClasses::of(uint32_t rank, const std::vector<ClassPart> &classes) const {
  std::vector<uint32_t> candidates = many_;
  for (auto i = std::lower_bound(few_.begin(), few_.end(), std::pair(rank, uint32_t{0}));
       i != few_.end() && i->first == rank; ++i) {
    candidates.push_back(i->second);
  }
  std::sort(candidates.begin(), candidates.end());
  std::vector<Place> places;
  for (const uint32_t each : candidates) {
    if (const auto member = classes[each].ranks.index_of(rank)) places.push_back({each, *member});
  }
  return places;
}

}  // namespace cairn::trace
