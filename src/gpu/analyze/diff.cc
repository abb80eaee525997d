#include "gpu/analyze/diff.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>

#include "gpu/analyze/pairing.h"

namespace cairn::analyze {
namespace {

using gpu::Event;
using gpu::Launches;
using gpu::LaunchRecord;
using gpu::WarpStreams;

constexpr uint64_t kWindow = 4096;
/// Added to a point that the other program does not have: no location of that one is so large.
constexpr uint32_t kNowhere = 1u << 16;

GpuProgramPair pair_programs(const Launches &first, uint32_t a, const Launches &second, uint32_t b) {
  const gpu::ProgramRecord &before = first.programs[a];
  const gpu::ProgramRecord &after = second.programs[b];
  GpuProgramPair pair;
  pair.first = a;
  pair.second = b;
  pair.edited = before.source_hash != after.source_hash;
  using Points = std::map<std::string, std::vector<const gpu::LocationRecord *>>;
  Points old_points;
  Points new_points;
  for (const auto &each : before.locations) old_points[each.function].push_back(&each);
  for (const auto &each : after.locations) new_points[each.function].push_back(&each);
  for (const auto &each : old_points) {
    const auto &points = each.second;
    const auto &others = new_points[each.first];
    const auto alike = [&](size_t i, size_t j) { return points[i]->kind == others[j]->kind ? 1u : 0u; };
    for (const auto &[i, j] : pairing(points.size(), others.size(), 1, alike)) {
      pair.points.emplace(points[i]->id, others[j]->id);
      if (points[i]->line != others[j]->line || points[i]->file != others[j]->file) {
        pair.moved.emplace_back(points[i]->id, others[j]->id);
      }
    }
  }
  std::sort(pair.moved.begin(), pair.moved.end());
  std::set<uint16_t> known;
  for (const auto &[from, to] : pair.points) known.insert(to);
  for (const auto &each : before.locations) {
    if (!pair.points.contains(each.id)) pair.gone.push_back(each.id);
  }
  for (const auto &each : after.locations) {
    if (!known.contains(each.id)) pair.fresh.push_back(each.id);
  }
  return pair;
}

/// An event of either run, in the second's locations.
struct Seen {
  uint32_t location = 0;
  Event event;
  bool operator==(const Seen &other) const { return location == other.location && event.mask == other.event.mask; }
};

/// The events of a warp from one on, joined if asked.
class Side {
 public:
  /// `to`: the second's location for each; null for the second itself.
  Side(const Launches &launches, const LaunchRecord &launch, const WarpStreams &warp, const std::vector<uint32_t> *to)
      : launches_(launches), launch_(launch), warp_(warp), to_(to) {
    for (const uint32_t stream : warp.streams) kept_ += launches.streams[stream].events;
  }
  /// Those in front that a ring has lost.
  [[nodiscard]] uint64_t skipped() const { return launch_.ring ? warp_.lost : 0; }
  [[nodiscard]] uint64_t all() const { return kept_ + warp_.lost; }
  [[nodiscard]] bool cut() const { return warp_.lost != 0; }

  Result<void> visit(uint64_t from, bool join, const std::function<void(const Seen &)> &show) const {
    uint64_t number = skipped();
    std::optional<Seen> held;
    auto done = launches_.visit(launch_, warp_, [&](const Event &event) {
      if (number++ < from) return;
      if (join && held && held->event.location == event.location && (held->event.mask & event.mask) == 0) {
        held->event.mask |= event.mask;
        return;
      }
      if (held) show(*held);
      held = Seen{to_ == nullptr ? event.location : (*to_)[event.location], event};
    });
    if (done && held) show(*held);
    return done;
  }

 private:
  const Launches &launches_;
  const LaunchRecord &launch_;
  const WarpStreams &warp_;
  const std::vector<uint32_t> *to_;
  uint64_t kept_ = 0;
};

/// One number for every kWindow events.
struct Windows {
  std::vector<uint64_t> hashes;
  uint64_t events = 0;
};

Result<Windows> windows_of(const Side &side, uint64_t from, bool join) {
  Windows windows;
  auto done = side.visit(from, join, [&windows](const Seen &seen) {
    if (windows.events++ % kWindow == 0) windows.hashes.push_back(0);
    uint64_t &hash = windows.hashes.back();
    for (const uint64_t part : {uint64_t{seen.location}, seen.event.mask}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
  });
  if (!done) return tl::unexpected(done.error());
  return windows;
}

Result<std::vector<Seen>> window_of(const Side &side, uint64_t from, bool join, uint64_t number) {
  std::vector<Seen> events;
  uint64_t at = 0;
  auto done = side.visit(from, join, [&](const Seen &seen) {
    if (at++ / kWindow == number) events.push_back(seen);
  });
  if (!done) return tl::unexpected(done.error());
  return events;
}

/// What came of a pair of warps.
struct Outcome {
  bool differs = false;
  bool cut = false;  ///< equal as far as both kept it
  GpuWarpDifference difference;
};

Result<Outcome> compare(const Side &first, const Side &second, bool join) {
  const uint64_t from = std::max(first.skipped(), second.skipped());
  const auto before = windows_of(first, from, join);
  if (!before) return tl::unexpected(before.error());
  const auto after = windows_of(second, from, join);
  if (!after) return tl::unexpected(after.error());
  Outcome outcome;
  GpuWarpDifference &difference = outcome.difference;
  difference.events_first = first.all();
  difference.events_second = second.all();
  const uint64_t both = std::min(before->events, after->events);
  const auto unequal =
      std::mismatch(before->hashes.begin(), before->hashes.end(), after->hashes.begin(), after->hashes.end());
  const auto number = static_cast<uint64_t>(unequal.first - before->hashes.begin());
  difference.event = both;
  if (number * kWindow < both) {
    const auto old_events = window_of(first, from, join, number);
    if (!old_events) return tl::unexpected(old_events.error());
    const auto new_events = window_of(second, from, join, number);
    if (!new_events) return tl::unexpected(new_events.error());
    const auto [old_event, new_event] =
        std::mismatch(old_events->begin(), old_events->end(), new_events->begin(), new_events->end());
    difference.event = number * kWindow + static_cast<uint64_t>(old_event - old_events->begin());
    if (old_event != old_events->end()) difference.first = old_event->event;
    if (new_event != new_events->end()) difference.second = new_event->event;
  }
  // With both kept to the end, one that has more differs there; joined, numbers of pieces may differ.
  const bool cut = first.cut() || second.cut();
  const bool longer = join ? before->events != after->events && !cut : first.all() != second.all();
  outcome.differs = difference.event < both || longer;
  outcome.cut = !outcome.differs && cut;
  if (outcome.differs && difference.event == both) {
    const bool first_has_more = before->events > both;
    const bool second_has_more = after->events > both;
    if (first_has_more || second_has_more) {
      const auto rest = window_of(first_has_more ? first : second, from, join, both / kWindow);
      if (!rest) return tl::unexpected(rest.error());
      (first_has_more ? difference.first : difference.second) = (*rest)[both % kWindow].event;
    }
  }
  difference.event += from;
  return outcome;
}

auto form_of(const LaunchRecord &launch) {
  return std::tuple(launch.program, launch.coder, launch.location_bits, launch.lanes, launch.ring);
}

class Comparison {
 public:
  Comparison(const Launches &first, const Launches &second, bool join) : first_(first), second_(second), join_(join) {}

  Result<GpuDiff> run() {
    // By rank, as each process launched them.
    std::map<uint32_t, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> ranks;
    for (uint32_t i = 0; i < first_.launches.size(); ++i) ranks[first_.launches[i].rank].first.push_back(i);
    for (uint32_t i = 0; i < second_.launches.size(); ++i) ranks[second_.launches[i].rank].second.push_back(i);
    for (const auto &[rank, numbers] : ranks) {
      if (auto done = pair_rank(numbers.first, numbers.second); !done) return tl::unexpected(done.error());
    }
    return std::move(diff_);
  }

 private:
  static std::string kernel(const Launches &of, uint32_t number) {
    const LaunchRecord &launch = of.launches[number];
    return of.programs[launch.program].kernel(launch.kernel);
  }

  Result<void> pair_rank(const std::vector<uint32_t> &before, const std::vector<uint32_t> &after) {
    const auto alike = [&](size_t i, size_t j) -> uint32_t {
      const LaunchRecord &a = first_.launches[before[i]];
      const LaunchRecord &b = second_.launches[after[j]];
      if (kernel(first_, before[i]) != kernel(second_, after[j])) return 0;
      return a.grid == b.grid && a.block == b.block ? 2 : 1;
    };
    size_t i = 0;
    size_t j = 0;
    const auto alone_until = [&](size_t end_i, size_t end_j) {
      for (; i < end_i; ++i) diff_.launches.emplace_back().first = before[i];
      for (; j < end_j; ++j) diff_.launches.emplace_back().second = after[j];
    };
    for (const auto &[a, b] : pairing(before.size(), after.size(), 2, alike)) {
      alone_until(a, b);
      if (auto done = pair_launches(before[i++], after[j++]); !done) return done;
    }
    alone_until(before.size(), after.size());
    return {};
  }

  Result<void> pair_launches(uint32_t before, uint32_t after) {
    const LaunchRecord &a = first_.launches[before];
    const LaunchRecord &b = second_.launches[after];
    GpuLaunchPair pair;
    pair.first = before;
    pair.second = after;
    pair.same_shape = a.grid == b.grid && a.block == b.block;
    groups_.clear();
    // Where blocks have other sizes, a warp's number says nothing of what it does.
    for (size_t i = 0, j = 0; a.block == b.block && (i < a.warps.size() || j < b.warps.size());) {
      if (j == b.warps.size() || (i < a.warps.size() && a.warps[i].index < b.warps[j].index)) {
        ++i;
        ++pair.unpaired;
      } else if (i == a.warps.size() || b.warps[j].index < a.warps[i].index) {
        ++j;
        ++pair.unpaired;
      } else if (auto done = pair_warps(a, a.warps[i++], b, b.warps[j++], &pair); !done) {
        return done;
      }
    }
    diff_.launches.push_back(std::move(pair));
    return {};
  }

  Result<void> pair_warps(const LaunchRecord &a, const WarpStreams &old_warp, const LaunchRecord &b,
                          const WarpStreams &new_warp, GpuLaunchPair *pair) {
    ++pair->warps;
    const Key key{form_of(a), form_of(b), old_warp.streams, new_warp.streams, old_warp.lost, new_warp.lost};
    const auto [at, fresh] = known_.try_emplace(key);
    if (fresh) {
      const Mapping &mapping = mapping_of(a.program, b.program);
      if (same_bytes(a, old_warp, b, new_warp, mapping)) {
        at->second.cut = old_warp.lost != 0;
      } else {
        auto outcome = compare({first_, a, old_warp, &mapping.to}, {second_, b, new_warp, nullptr}, join_);
        if (!outcome) return tl::unexpected(outcome.error());
        at->second = *std::move(outcome);
      }
    }
    const Outcome &outcome = at->second;
    pair->cut += outcome.cut ? 1 : 0;
    if (!outcome.differs) return {};
    ++pair->differing;
    const auto [group, is_new] = groups_.try_emplace(&outcome, pair->differences.size());
    if (is_new) pair->differences.push_back(outcome.difference);
    pair->differences[group->second].warps.push_back(old_warp.index);
    return {};
  }

  /// How the locations of two programs correspond.
  struct Mapping {
    std::vector<uint32_t> to;
    bool identical = false;  ///< and streams mean the same in both
  };
  const Mapping &mapping_of(uint32_t a, uint32_t b) {
    const auto [at, fresh] = mappings_.try_emplace({a, b});
    Mapping &mapping = at->second;
    if (!fresh) return mapping;
    GpuProgramPair pair = pair_programs(first_, a, second_, b);
    mapping.to.resize(size_t{UINT16_MAX} + 1);
    // What stands in no table, as points put by hand may, is the same where it has the same number.
    for (uint32_t id = 0; id < mapping.to.size(); ++id) mapping.to[id] = id;
    for (const auto &[from, to] : pair.points) mapping.to[to] = to + kNowhere;
    for (const uint16_t id : pair.gone) mapping.to[id] = id + kNowhere;
    for (const uint16_t id : pair.fresh) mapping.to[id] = id + kNowhere;
    for (const auto &[from, to] : pair.points) mapping.to[from] = to;
    mapping.identical = pair.gone.empty() && pair.fresh.empty() &&
                        std::all_of(pair.points.begin(), pair.points.end(),
                                    [](const auto &each) { return each.first == each.second; }) &&
                        first_.programs[a].successors == second_.programs[b].successors;
    diff_.programs.push_back(std::move(pair));
    return mapping;
  }

  bool same_bytes(const LaunchRecord &a, const WarpStreams &old_warp, const LaunchRecord &b,
                  const WarpStreams &new_warp, const Mapping &mapping) const {
    const auto form = [](const LaunchRecord &of) { return std::tuple(of.coder, of.location_bits, of.lanes, of.ring); };
    return mapping.identical && form(a) == form(b) && old_warp.lost == new_warp.lost &&
           std::equal(old_warp.streams.begin(), old_warp.streams.end(), new_warp.streams.begin(),
                      new_warp.streams.end(),
                      [this](uint32_t i, uint32_t j) { return first_.streams[i] == second_.streams[j]; });
  }

  const Launches &first_;
  const Launches &second_;
  const bool join_;
  GpuDiff diff_;
  using Form = decltype(form_of(LaunchRecord()));
  using Key = std::tuple<Form, Form, std::vector<uint32_t>, std::vector<uint32_t>, uint64_t, uint64_t>;
  std::map<Key, Outcome> known_;
  std::map<std::pair<uint32_t, uint32_t>, Mapping> mappings_;
  std::map<const Outcome *, size_t> groups_;  ///< of this launch, places among its differences
};

}  // namespace

bool GpuDiff::equal() const {
  return std::all_of(launches.begin(), launches.end(), [](const GpuLaunchPair &pair) { return pair.equal(); });
}

Result<GpuDiff> gpu_diff(const Launches &first, const Launches &second, bool join) {
  return Comparison(first, second, join).run();
}

}  // namespace cairn::analyze
