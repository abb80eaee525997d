#include "export/scope.h"

#include <algorithm>
#include <utility>

namespace cairn::exporting {

bool Wanted::has_rank(uint32_t rank) const { return all_ranks || std::binary_search(ranks.begin(), ranks.end(), rank); }

Result<Scope> Scope::of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter) {
  auto groups = simgrid::Groups::of(trace, sources);
  if (!groups) return tl::unexpected(groups.error());
  Scope scope;
  scope.trace = &trace;
  scope.sources = &sources;
  scope.repeats = std::make_shared<turns::AllRepeats>(trace);
  scope.groups = *std::move(groups);
  scope.names.resize(scope.groups.count());
  scope.names[simgrid::Groups::kSelf] = "MPI_COMM_SELF";
  scope.names[simgrid::Groups::kWorld] = "MPI_COMM_WORLD";
  for (const auto &[name, number] : scope.groups.numbers()) scope.names[number] = name;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    scope.rows.push_back({trace.sites(index), trace.class_view(index).thread});
  }
  scope.by_class_.resize(trace.class_count());
  scope.wanted = {filter.ranks, filter.all_ranks, filter.functions, filter.window};
  return scope;
}

uint32_t Scope::place(uint32_t class_index, uint32_t function, uint32_t site) {
  const auto [known, fresh] = by_class_[class_index].try_emplace({function, site});
  if (!fresh) return known->second;
  const auto &sites = rows[class_index].sites;
  const trace::Site where = site < sites.size() ? sites[site] : trace::Site();
  const auto [found, is_new] =
      by_site_.try_emplace({function, where.module, where.offset}, static_cast<uint32_t>(places_.size()));
  if (is_new) places_.push_back({function, sources->position(class_index, site)});
  known->second = found->second;
  return found->second;
}

}  // namespace cairn::exporting
