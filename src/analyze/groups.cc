#include "analyze/groups.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "analyze/function_table.h"
#include "base/as_size.h"
#include "spec/ids.h"

namespace cairn::analyze {
namespace {

using RankList = std::vector<uint32_t>;

const char *made_by(const spec::Function &function) {
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    const bool made = parameter.effect == spec::Effect::create || parameter.effect == spec::Effect::lookup;
    if (parameter.kind == spec::Kind::group && made) return parameter.name;
  }
  return nullptr;
}

/// The ranks that triplets of first, last and step stand for; nullopt: they are none, or too many.
std::optional<std::vector<int64_t>> unrolled(const std::vector<int64_t> &ranges, size_t most) {
  std::vector<int64_t> ranks;
  for (size_t i = 0; i + 2 < ranges.size(); i += 3) {
    const int64_t step = ranges[i + 2];
    if (step == 0) return std::nullopt;
    for (int64_t at = ranges[i]; step > 0 ? at <= ranges[i + 1] : at >= ranges[i + 1];) {
      if (ranks.size() == most) return std::nullopt;
      ranks.push_back(at);
      if (__builtin_add_overflow(at, step, &at)) break;  // only in a file that no recorder wrote
    }
  }
  return ranks;
}

RankList chosen(const RankList &all, const std::vector<int64_t> &ranks) {
  RankList made;
  for (const int64_t rank : ranks) {
    if (rank >= 0 && as_size(rank) < all.size()) made.push_back(all[as_size(rank)]);
  }
  return made;
}

RankList without(const RankList &all, const std::vector<int64_t> &ranks) {
  std::vector<bool> left_out(all.size());
  for (const int64_t rank : ranks) {
    if (rank >= 0 && as_size(rank) < all.size()) left_out[as_size(rank)] = true;
  }
  RankList made;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!left_out[i]) made.push_back(all[i]);
  }
  return made;
}

RankList of_both(std::string_view function, const RankList &first, const RankList &second) {
  const bool all = function == "MPI_Group_union";
  const bool both = function == "MPI_Group_intersection";
  RankList there = all ? first : second;
  std::sort(there.begin(), there.end());
  RankList made;
  if (all) made = first;
  for (const uint32_t each : all ? second : first) {
    if (std::binary_search(there.begin(), there.end(), each) == both) made.push_back(each);
  }
  return made;
}

}  // namespace

bool Groups::makes_or_frees(uint32_t function) {
  static const auto all = function_table(
      [](const spec::Function &each) { return made_by(each) != nullptr || each.id == spec::function_id::Group_free; });
  return function < all.size() && all[function];
}

void Groups::see(const RowAccess &row, const Members &whole) {
  const std::string_view function = row.function()->name;
  if (!row.succeeded()) return;
  if (function == "MPI_Group_free") {
    if (const auto freed = row.handle("group")) known_.erase(*freed);
    return;
  }
  const auto made = row.handle(made_by(*row.function()));
  if (!made || made->special != 0) return;
  Members members;
  if (function == "MPI_Comm_group" || function == "MPI_Win_get_group") {
    members = whole;
  } else if (row.has("group1")) {
    const Members first = of(row.handle("group1").value_or(HandleName()));
    const Members second = of(row.handle("group2").value_or(HandleName()));
    if (first && second) members = std::make_shared<RankList>(of_both(function, *first, *second));
  } else if (const Members all = row.has("group") ? of(row.handle("group").value_or(HandleName())) : nullptr) {
    // An array of no ranks is not there.
    auto ranks = std::optional<std::vector<int64_t>>(std::in_place);
    if (row.has("ranges")) {
      const auto ranges = row.numbers("ranges");
      ranks = ranges ? unrolled(*ranges, all->size()) : std::nullopt;
    } else if (row.has("ranks")) {
      ranks = row.numbers("ranks");
    }
    const bool leaves_out = function == "MPI_Group_excl" || function == "MPI_Group_range_excl";
    if (ranks) members = std::make_shared<RankList>(leaves_out ? without(*all, *ranks) : chosen(*all, *ranks));
  }
  if (members) {
    known_[*made] = members;
  } else {
    known_.erase(*made);
  }
}

Groups::Members Groups::of(const HandleName &group) const {
  static const Members empty = std::make_shared<RankList>();
  if (group.constant() == spec::constant_id::k_GROUP_EMPTY) return empty;
  const auto found = known_.find(group);
  return found == known_.end() ? nullptr : found->second;
}

}  // namespace cairn::analyze
