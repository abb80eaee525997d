#include "check/distinct_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyze/decode.h"
#include "analyze/outcome.h"
#include "analyze/row_access.h"
#include "analyze/selected_calls.h"
#include "analyze/sizes.h"
#include "check/arguments.h"
#include "check/living_objects.h"
#include "trace/read/events.h"

namespace cairn::check {
namespace {

using analyze::CallTime;
using analyze::RowAccess;

/// A distinct call with something wrong in it, before it is known which call of the rank it was.
struct Wrong {
  trace::Row row;
  std::string text;
  uint64_t count = 0;
};
/// By class, function and site.
using WrongCalls = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<Wrong>>;

class DistinctCalls {
 public:
  DistinctCalls(const trace::Trace &trace, const Kinds &kinds, Findings *findings)
      : trace_(trace),
        kinds_(kinds),
        findings_(*findings),
        sizes_of_(trace, [](const spec::Function &function) { return analyze::Sizes::is_creator(function); }) {
    for (uint32_t index = 0; index < trace.class_count(); ++index) {
      scopes_.push_back({trace.sites(index), trace.class_view(index).thread});
      std::vector<bool> &wanted = wanted_.emplace_back();
      for (const trace::Structure::RowHead &row : trace::structure_of(trace, index).rows) {
        wanted.push_back(kinds.has(Kind::arguments) || LivingObjects::concerns(row.function));
      }
    }
  }

  Result<void> look_at(uint32_t rank, bool leaks) {
    LivingObjects objects;
    WrongCalls wrong;
    const bool arguments = kinds_.has(Kind::arguments);
    std::optional<analyze::Sizes> sizes;
    if (arguments) sizes.emplace(trace_.job_of(rank).size, sizes_of_.of(rank));
    for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
      const analyze::RowScope &scope = scopes_[sequence.class_index];
      const std::vector<bool> &wanted = wanted_[sequence.class_index];
      for (const trace::CountedRow &call : trace_.counted_rows(sequence, [&](uint32_t row) { return wanted[row]; })) {
        if (call.count == 0) continue;
        const CallTime at{rank, 0, 0, 0, sequence.class_index, call.row.function, call.row.site};
        if (leaks) objects.see(call.row, scope, at, call.count);
        if (!arguments) continue;
        std::string text = fault_of(call.row, scope, *sizes);
        if (text.empty()) continue;
        wrong[{sequence.class_index, call.row.function, call.row.site}].push_back(
            {call.row, std::move(text), call.count});
      }
    }
    if (!wrong.empty()) {
      if (auto done = tell(rank, std::move(wrong)); !done) return done;
    }
    return leaks ? tell_left(rank, objects) : Result<void>();
  }

 private:
  /// "" if nothing is wrong.
  static std::string fault_of(const trace::Row &row, const analyze::RowScope &scope, const analyze::Sizes &sizes) {
    const auto all = spec::functions();
    if (row.function >= all.size() || std::string_view(all[row.function].name).starts_with("MPI_T_")) return {};
    const RowAccess access(row, scope);
    std::string text = argument_fault(access, sizes);
    const analyze::Outcome outcome = analyze::outcome_of(row);
    if (outcome.kind == analyze::Outcome::Kind::failed) {
      text += (text.empty() ? "returned " : ", returned ") + outcome.name;
    }
    return text;
  }

  /// Which calls of the rank they were.
  Result<void> tell(uint32_t rank, WrongCalls wrong) {
    trace::Events events(trace_, rank);
    while (!wrong.empty()) {
      const trace::Event *event = events.next();
      if (event == nullptr) break;
      const trace::Row &row = *event->values;
      const auto here = wrong.find({event->class_index, row.function, row.site});
      if (here == wrong.end()) continue;
      const auto found =
          std::find_if(here->second.begin(), here->second.end(), [&](const Wrong &each) { return each.row == row; });
      if (found == here->second.end()) continue;
      const CallTime at{rank, event->index, 0, 0, event->class_index, row.function, row.site};
      findings_.add({Kind::arguments, true, found->text, std::nullopt, found->count}, at);
      here->second.erase(found);
      if (here->second.empty()) wrong.erase(here);
    }
    if (auto end = events.end_of_calls(); !end) return end;
    // Those with arrays that calls drain, which only the order of calls gives in full.
    for (const auto &[key, all] : wrong) {
      const auto &[class_index, function, site] = key;
      for (const Wrong &each : all) {
        findings_.add({Kind::arguments, true, each.text, std::nullopt, each.count, false},
                      {rank, 0, 0, 0, class_index, function, site});
      }
    }
    return {};
  }

  Result<void> tell_left(uint32_t rank, const LivingObjects &objects) {
    std::vector<LivingObjects::Left> left = objects.left();
    const bool news = std::any_of(left.begin(), left.end(), [&](const LivingObjects::Left &each) {
      return told_.insert({each.made.class_index, each.made.site}).second;
    });
    bool numbered = false;
    if (!objects.sure() || news) {
      LivingObjects in_order;
      trace::Events events(trace_, rank);
      while (const trace::Event *event = events.next()) {
        const trace::Row &row = *event->values;
        if (!LivingObjects::concerns(row.function)) continue;
        in_order.see(row, scopes_[event->class_index],
                     {rank, event->index, 0, 0, event->class_index, row.function, row.site}, 1);
      }
      if (auto end = events.end_of_calls(); !end) return end;
      left = in_order.left();
      numbered = true;
    }
    const bool one_thread = !trace_.has_threads(rank);
    for (const LivingObjects::Left &each : left) {
      const bool request = each.kind == spec::Kind::request;
      // Which thread's it was cannot be told then (LivingObjects::Left).
      if (request && !each.sure && !one_thread) continue;
      const std::string text = each.active                        ? "the request is started and never completed"
                               : each.kind == spec::Kind::pointer ? "the buffer is never detached"
                               : each.kind == spec::Kind::file    ? "the file is never closed"
                               : request && !spec::functions()[each.made.function].persistent
                                   ? "the request is never completed"
                                   : fmt::format("the {} is never freed", object_name(each.kind));
      findings_.add({Kind::leaks, each.sure, text, std::nullopt, each.count, numbered}, each.made);
    }
    return {};
  }

  const trace::Trace &trace_;
  const Kinds &kinds_;
  Findings &findings_;
  analyze::SelectedCalls sizes_of_;
  std::vector<analyze::RowScope> scopes_;         ///< by class
  std::vector<std::vector<bool>> wanted_;         ///< by class and row: tells something of the kinds
  std::set<std::pair<uint32_t, uint32_t>> told_;  ///< classes and sites of calls whose objects were left
};

}  // namespace

Result<void> look_at_distinct_calls(const trace::Trace &trace, const std::vector<uint32_t> &ranks,
                                    const std::vector<uint32_t> &leaking, const Kinds &kinds, Findings *findings) {
  DistinctCalls calls(trace, kinds, findings);
  for (const uint32_t rank : ranks) {
    const bool leaks = kinds.has(Kind::leaks) && std::find(leaking.begin(), leaking.end(), rank) != leaking.end();
    if (!leaks && !kinds.has(Kind::arguments)) continue;
    if (auto done = calls.look_at(rank, leaks); !done) return done;
  }
  return {};
}

}  // namespace cairn::check
