#include "traffic/message_sizes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/volume.h"
#include "base/saturating.h"
#include "timing/mode.h"

namespace cairn::traffic {
namespace {

class SizeGathering : public Listener {
 public:
  SizeGathering(const trace::Trace &trace, const analyze::Sources &sources, SizesBy by, bool exact, bool each_time)
      : trace_(trace), sources_(sources), by_(by), exact_(exact), each_time_(each_time) {}

  void moved(const Traffic &traffic, const Called &called) override {
    places_.clear();
    if (traffic.collective) {
      add(group_of(traffic, called, true), traffic.collective->bytes, called.count);
    }
    if (!traffic.flows.empty()) {
      const size_t group = group_of(traffic, called, false);
      for (const Flow &flow : traffic.flows) add(group, flow.bytes, called.count);
    }
    if (each_time_) {
      if (!called.ns || !all_one()) return untimed();
      lines_[places_[0].first][places_[0].second].spend(*called.ns);
    } else {
      OfRow &of_row = of_rows_[{called.class_index, called.class_row}];
      of_row.places.insert(places_.begin(), places_.end());
      add_to(&of_row.calls, called.count);
    }
  }

  MessageSizes result(bool statistics) {
    if (statistics) add_statistics();
    MessageSizes sizes;
    std::vector<std::pair<std::tuple<bool, uint64_t, std::string>, SizeGroup>> ordered;
    for (size_t i = 0; i < groups_.size(); ++i) {
      uint64_t bytes = 0;
      for (auto &[least, line] : lines_[i]) {
        add_to(&bytes, line.bytes);
        sizes.timed = sizes.timed || line.ns.has_value();
        groups_[i].lines.push_back(line);
      }
      ordered.emplace_back(std::tuple(groups_[i].collective, UINT64_MAX - bytes, groups_[i].name), groups_[i]);
    }
    std::sort(ordered.begin(), ordered.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    for (auto &[order, group] : ordered) sizes.groups.push_back(std::move(group));
    return sizes;
  }

 private:
  static constexpr uint64_t kUnknown = UINT64_MAX;
  struct OfRow {
    std::set<std::pair<size_t, uint64_t>> places;
    uint64_t calls = 0;
  };
  struct Line : SizeLine {
    void spend(uint64_t more) {
      uint64_t sum = ns.value_or(0);
      add_to(&sum, more);
      ns = sum;
    }
  };

  void add(size_t group, const std::optional<uint64_t> &bytes, uint64_t count) {
    Line line;
    line.known = bytes.has_value();
    if (bytes) {
      line.least = *bytes;
      line.most = *bytes;
      if (!exact_ && *bytes != 0) {
        line.least = uint64_t{1} << (63 - __builtin_clzll(*bytes));
        line.most = line.least + (line.least - 1);
      }
    }
    const uint64_t key = bytes ? line.least : kUnknown;
    Line &here = lines_[group].try_emplace(key, line).first->second;
    add_to(&here.messages, count);
    add_to(&here.bytes, saturating_product(bytes.value_or(0), count));
    places_.emplace_back(group, key);
  }
  [[nodiscard]] bool all_one() const {
    return !places_.empty() &&
           std::all_of(places_.begin(), places_.end(), [&](const auto &each) { return each == places_[0]; });
  }
  void untimed() {
    for (const auto &[group, key] : places_) lines_[group].at(key).some_untimed = true;
  }

  void add_statistics() {
    for (const auto &[row, here] : of_rows_) {
      // Other counts: statistics that several rows share, or calls that moved nothing.
      const auto stats = trace_.row_stats(row.first, row.second);
      if (stats && stats->calls.count == here.calls && here.places.size() == 1) {
        const auto &[group, key] = *here.places.begin();
        lines_[group].at(key).spend(stats->calls.sum);
        continue;
      }
      for (const auto &[group, key] : here.places) lines_[group].at(key).some_untimed = true;
    }
  }

  size_t group_of(const Traffic &traffic, const Called &called, bool collective) {
    std::string name;
    if (by_ == SizesBy::operation) {
      name = analyze::operation(spec::functions()[traffic.function]);
    } else if (by_ == SizesBy::communicator) {
      name = traffic.place ? std::string(traffic.place->name()) : "unknown";
    } else {
      const auto [known, fresh] = sites_.try_emplace({called.class_index, called.site});
      if (fresh) known->second = sources_.position(called.class_index, called.site).text();
      name = known->second.empty() ? "unknown" : known->second;
    }
    const auto [known, fresh] = numbers_.try_emplace({name, collective}, groups_.size());
    if (fresh) {
      groups_.push_back({name, collective, {}});
      lines_.emplace_back();
    }
    return known->second;
  }

  const trace::Trace &trace_;
  const analyze::Sources &sources_;
  SizesBy by_;
  bool exact_;
  bool each_time_;
  std::vector<SizeGroup> groups_;
  std::vector<std::map<uint64_t, Line>> lines_;  ///< by group and least size
  std::map<std::pair<std::string, bool>, size_t> numbers_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> sites_;
  std::vector<std::pair<size_t, uint64_t>> places_;         ///< of the call at hand
  std::map<std::pair<uint32_t, uint32_t>, OfRow> of_rows_;  ///< by class and row
};

}  // namespace

Result<MessageSizes> sizes_of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                              SizesBy by, bool exact, bool times) {
  const bool each_time = times && timing::keeps_times(trace.run().timing);
  SizeGathering gathering(trace, sources, by, exact, each_time);
  auto seen = each_traffic(trace, sources, filter, {.times = each_time, .peers = false, .ranks = false}, &gathering);
  if (!seen) return tl::unexpected(seen.error());
  // Statistics are of all ranks of a class, and of all calls of a row.
  const bool all = filter.all_ranks && !filter.chooses_by_values();
  MessageSizes sizes = gathering.result(times && !each_time && all);
  sizes.seen = *seen;
  return sizes;
}

}  // namespace cairn::traffic
