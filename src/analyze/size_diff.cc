#include "analyze/size_diff.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analyze/filter.h"
#include "analyze/summary.h"

namespace cairn::analyze {
namespace {

/// A site with its function, by which it is paired.
struct Site {
  uint32_t function = 0;
  SiteUse use;
  std::string key;
};

std::string key_of(const SummaryLine &line) {
  const auto text = [](const Position &position) {
    if (position.file.empty()) return position.module + "+" + std::to_string(position.offset);
    return position.file.substr(position.file.rfind('/') + 1) + ":" + std::to_string(position.line) + " " +
           position.function;
  };
  std::string key = text(line.position);
  for (const Position &caller : line.callers) key += " < " + text(caller);
  return key;
}

Result<std::vector<Site>> sites_of(const trace::Trace &trace, RunUse *run) {
  const Sources sources(trace);
  const auto all = make_filter({}, trace, sources);
  if (!all) return tl::unexpected(all.error());
  const auto summary = summarise(trace, sources, *all, GroupBy::call_site);
  if (!summary) return tl::unexpected(summary.error());
  run->ranks = trace.ranks().size();
  run->calls = summary->calls;
  run->outside_ns = summary->outside_ns;
  run->mpi_ns = summary->mpi_ns;
  run->apart_ns = summary->apart_ns;
  for (const uint32_t rank : trace.ranks()) run->run_ns = std::max(run->run_ns, trace.rank_info(rank).wall_ns);
  // Several sites of one line are one.
  std::map<std::pair<uint32_t, std::string>, size_t> known;
  std::vector<Site> sites;
  for (const SummaryLine &line : summary->lines) {
    const std::string key = key_of(line);
    const auto [place, fresh] = known.try_emplace({line.function, key}, sites.size());
    if (fresh) sites.push_back({line.function, {line.position}, key});
    SiteUse &use = sites[place->second].use;
    if (fresh) use.ns = 0;
    use.ranks = std::max(use.ranks, line.ranks);
    use.calls += line.calls;
    use.moves = use.moves || line.moves;
    use.bytes += line.bytes;
    use.sized += line.calls - std::min(line.calls, line.unsized_calls);
    if (!line.timed) use.ns.reset();
    if (use.ns) *use.ns += line.time_ns;
  }
  return sites;
}

}  // namespace

bool SiteChange::same() const {
  if (!first || !second) return false;
  const auto equal = [](uint64_t a, uint64_t b, uint64_t c, uint64_t d) {  // a / b == c / d
    return static_cast<__uint128_t>(a) * d == static_cast<__uint128_t>(c) * b;
  };
  return equal(first->calls, first->ranks, second->calls, second->ranks) && first->moves == second->moves &&
         (first->sized == 0) == (second->sized == 0) && equal(first->bytes, first->sized, second->bytes, second->sized);
}

Result<SizeDiff> size_diff(const trace::Trace &first, const trace::Trace &second) {
  SizeDiff diff;
  auto before = sites_of(first, &diff.first);
  if (!before) return tl::unexpected(before.error());
  auto after = sites_of(second, &diff.second);
  if (!after) return tl::unexpected(after.error());

  std::map<std::pair<uint32_t, std::string>, const Site *> by_key;
  for (const Site &site : *before) by_key[{site.function, site.key}] = &site;
  std::vector<const Site *> unpaired;
  for (const Site &site : *after) {
    const auto found = by_key.find({site.function, site.key});
    if (found == by_key.end()) {
      unpaired.push_back(&site);
      continue;
    }
    diff.sites.push_back({site.function, found->second->use, site.use});
    by_key.erase(found);
  }
  // What is left, of each function, in the order of places.
  const auto by_place = [](const Site *a, const Site *b) {
    const auto place = [](const Site *site) {
      const Position &position = site->use.position;
      return std::tie(position.file, position.line, position.offset);
    };
    return place(a) < place(b);
  };
  std::map<uint32_t, std::vector<const Site *>> left;
  for (const auto &[key, site] : by_key) left[site->function].push_back(site);
  std::map<uint32_t, std::vector<const Site *>> fresh;
  for (const Site *site : unpaired) fresh[site->function].push_back(site);
  for (auto &[function, sites] : fresh) {
    std::vector<const Site *> &others = left[function];
    const bool paired = others.size() == sites.size();
    std::sort(sites.begin(), sites.end(), by_place);
    std::sort(others.begin(), others.end(), by_place);
    for (size_t i = 0; i < sites.size(); ++i) {
      diff.sites.push_back({function, paired ? std::optional(others[i]->use) : std::nullopt, sites[i]->use});
    }
    if (paired) others.clear();
  }
  for (const auto &[function, sites] : left) {
    for (const Site *site : sites) diff.sites.push_back({function, site->use, std::nullopt});
  }
  std::stable_sort(diff.sites.begin(), diff.sites.end(), [](const SiteChange &a, const SiteChange &b) {
    const auto key = [](const SiteChange &change) {
      const SiteUse &use = change.second ? *change.second : *change.first;
      return std::pair(change.second.has_value(), std::pair(use.ns.value_or(0), use.calls));
    };
    return key(a) > key(b);
  });
  return diff;
}

}  // namespace cairn::analyze
