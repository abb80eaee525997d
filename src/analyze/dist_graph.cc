#include "analyze/dist_graph.h"

#include <algorithm>
#include <numeric>

#include "base/as_size.h"

namespace cairn::analyze {
namespace {

/// They are all the same one: then which is where makes no difference.
bool are_alike(const std::vector<int64_t> &all) {
  return std::all_of(all.begin(), all.end(), [&](int64_t each) { return each == all.front(); });
}

}  // namespace

void DistGraph::add(uint32_t process, const RowAccess &row) {
  if (!told_.insert(process).second) return;  // a call that was recorded twice over
  const auto count = row.number("n");
  if (count == 0) return;
  const auto sources = row.numbers("sources");
  const auto degrees = row.numbers("degrees");
  const auto destinations = row.numbers("destinations");
  known_ = known_ && row.succeeded() && count && *count > 0 && sources && degrees &&
           sources->size() == as_size(*count) && degrees->size() == as_size(*count);
  if (!known_) return;
  size_t next = 0;
  for (size_t i = 0; i < sources->size(); ++i) {
    for (int64_t k = 0; k < (*degrees)[i]; ++k, ++next) {
      known_ = known_ && destinations && next < destinations->size();
      if (!known_) return;
      edges_.emplace_back((*sources)[i], (*destinations)[next]);
    }
  }
}

void DistGraph::finish(size_t members) {
  known_ = known_ && told_.size() == members;
  told_.clear();
  std::sort(edges_.begin(), edges_.end());
  for (const auto &[from, to] : std::exchange(edges_, {})) {
    neighbors_[from].destinations.push_back(to);
    neighbors_[to].sources.push_back(from);
  }
  // On all of them or on none, so that both sides of a message know as much of it.
  const bool ordered = std::all_of(neighbors_.begin(), neighbors_.end(), [](const auto &each) {
    return are_alike(each.second.sources) && are_alike(each.second.destinations);
  });
  for (auto &[place, all] : neighbors_) {
    all.order.resize(all.sources.size());
    std::iota(all.order.begin(), all.order.end(), 0U);
    all.ordered = ordered;
  }
}

std::optional<Neighbors> DistGraph::of(uint32_t place) const {
  if (!known_) return std::nullopt;
  const auto found = neighbors_.find(int64_t{place});
  return found == neighbors_.end() ? Neighbors() : found->second;
}

}  // namespace cairn::analyze
