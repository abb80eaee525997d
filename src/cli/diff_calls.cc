#include "cli/diff_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/filter.h"
#include "cli/reading.h"
#include "terminal/csv.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::CallDiff;
using analyze::CallDifference;
using analyze::Summary;
using analyze::SummaryLine;

/// One function in both runs.
struct Change {
  SummaryLine first;
  SummaryLine second;

  [[nodiscard]] bool counts() const { return first.calls != second.calls || first.bytes != second.bytes; }
};

std::map<std::string, Change> changes_of(const ComparedCalls &compared) {
  std::map<std::string, Change> changes;
  for (const SummaryLine &line : compared.first.lines) changes[analyze::function_name(line.function)].first = line;
  for (const SummaryLine &line : compared.second.lines) changes[analyze::function_name(line.function)].second = line;
  return changes;
}

/// "12 -> 15", or "12".
std::string change_text(const std::string &first, const std::string &second) {
  return first == second ? first : first + " -> " + second;
}

std::string percent(uint64_t first, uint64_t second) {
  if (first == 0 || first == second) return "";
  const double change = (static_cast<double>(second) - static_cast<double>(first)) / static_cast<double>(first);
  return fmt::format(" ({:+.1f} %)", 100 * change);
}

std::string names_text(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string named_ranks(const std::vector<uint32_t> &ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranks_text(ranks);
}

/// One run goes on where the other one was cut short: which; nullptr: it is something else.
const char *cut_short_in(const CallDifference &difference, const ComparedCalls &compared) {
  if (difference.kind != CallDifference::Kind::order || difference.goes_on) return nullptr;
  if (difference.first.has_value() == difference.second.has_value()) return nullptr;
  const std::vector<uint32_t> &cut = difference.first ? compared.cut_second : compared.cut_first;
  const bool all = std::includes(cut.begin(), cut.end(), difference.ranks.begin(), difference.ranks.end());
  return !all ? nullptr : difference.first ? "second" : "first";
}

/// "ranks 0-3: call 17 is another one", or "ranks 0-3: 12 calls differ in count; call 17 of rank 0 first".
std::string head_of(const CallDifference &difference, const ComparedCalls &compared) {
  const std::string ranks = named_ranks(difference.ranks);
  const std::string thread = difference.thread == 0 ? "" : fmt::format(", thread {}", difference.thread);
  if (const char *which = cut_short_in(difference, compared)) {
    return fmt::format("{}{}: the {} run was cut short before call {}, which the other one made", ranks, thread, which,
                       grouped(difference.index));
  }
  if (difference.goes_on) {
    return fmt::format("{}{}: {} in the {} run alone; call {} of rank {}{}", ranks, thread,
                       plural(difference.calls, "call"), difference.first ? "first" : "second",
                       grouped(difference.index), difference.ranks.front(), difference.calls == 1 ? "" : " first");
  }
  if (difference.kind == CallDifference::Kind::order) {
    const char *what = !difference.first    ? "was not made in the first run"
                       : !difference.second ? "was not made in the second run"
                                            : "is another one";
    return fmt::format("{}{}: call {} {}", ranks, thread, grouped(difference.index), what);
  }
  std::string text = fmt::format("{}{}: {} in {}", ranks, thread,
                                 difference.calls == 1 ? "1 call differs" : grouped(difference.calls) + " calls differ",
                                 names_text(difference.names));
  if (difference.kind == CallDifference::Kind::results) text += ", that MPI gave";
  return fmt::format("{}; call {} of rank {}{}", text, grouped(difference.index), difference.ranks.front(),
                     difference.calls == 1 ? "" : " first");
}

/// What became of the time in MPI and outside. Without statistics of calls it is not known what MPI_Init and
/// MPI_Finalize took; then they are added in the other run as well.
std::string times_text(const Summary &first, const Summary &second) {
  const bool apart = first.apart_ns && second.apart_ns;
  const auto in_mpi = [apart](const Summary &run) { return run.mpi_ns + (apart ? 0 : run.apart_ns.value_or(0)); };
  const auto line = [](const char *where, uint64_t before, uint64_t after) {
    return fmt::format("{}: {}{}\n", where, change_text(time_text(before), time_text(after)), percent(before, after));
  };
  return line(apart ? "in MPI" : "in MPI, MPI_Init and MPI_Finalize", in_mpi(first), in_mpi(second)) +
         line("outside MPI", first.outside_ns, second.outside_ns);
}

/// How exact the times of calls are, where they are not exact.
std::string exactness_text(const Summary &first, const Summary &second) {
  const auto line = [](const char *of, const std::string &within) {
    return within.empty() ? "" : fmt::format("times of calls{} are {} of what they were\n", of, within);
  };
  if (first.within == second.within) return line("", first.within);
  return line(" in the first run", first.within) + line(" in the second run", second.within);
}

/// Both runs make all calls in the same order, but for those that one of them makes alone.
bool goes_on(const CallDiff &diff) {
  return std::all_of(diff.differences.begin(), diff.differences.end(), [](const CallDifference &difference) {
    return difference.kind != CallDifference::Kind::order || difference.goes_on;
  });
}

/// "nothing changed but argv of MPI_Init, and status of MPI_Recv, that MPI gave; 30 calls of MPI_Barrier more"; ""
/// where more did, or nothing.
std::string only_change(const CallDiff &diff) {
  if (diff.equal() || !goes_on(diff)) return "";
  std::vector<std::string> changes;
  std::map<std::pair<uint32_t, bool>, uint64_t> alone;  // by function, and whether there are more
  for (const CallDifference &difference : diff.differences) {
    if (!difference.goes_on) continue;
    const analyze::Call &call = difference.first ? *difference.first : *difference.second;
    alone[{call.function_id, !difference.first}] += difference.calls;
  }
  changes.reserve(alone.size());
  for (const auto &[key, calls] : alone) {
    changes.push_back(fmt::format("{} of {} {}", plural(calls, "call"), analyze::function_name(key.first),
                                  key.second ? "more" : "fewer"));
  }
  for (const CallDifference &difference : diff.differences) {
    if (difference.goes_on) continue;
    const bool given = difference.kind == CallDifference::Kind::results;
    const std::string text =
        fmt::format("{} of {}{}", names_text(difference.names), analyze::function_name(difference.first->function_id),
                    given ? ", that MPI gave" : "");
    if (std::find(changes.begin(), changes.end(), text) == changes.end()) changes.push_back(text);
  }
  constexpr size_t kFew = 4;
  if (changes.empty() || changes.size() > kFew) return "";
  std::string all;
  for (const std::string &change : changes) {
    all += all.empty() ? "" : &change == &changes.back() ? ", and " : "; ";
    all += change;
  }
  return "nothing changed but " + all + "\n";
}

const char *name_of(CallDifference::Kind kind) {
  if (kind == CallDifference::Kind::order) return "order";
  return kind == CallDifference::Kind::arguments ? "arguments" : "results";
}

}  // namespace

Result<ComparedCalls> compare_calls(const trace::Trace &first, const trace::Trace &second, const std::string &ranks,
                                    bool results) {
  ComparedCalls compared;
  Reading reading(first, second, 2);
  const analyze::FilterText text{.ranks = ranks};
  std::vector<uint32_t> wanted;
  const auto sum = [&](const trace::Trace &trace, Summary *summary) -> Result<void> {
    const analyze::Sources sources(trace);
    const auto filter = analyze::make_filter(text, trace, sources);
    if (!filter) return tl::unexpected(filter.error());
    if (!filter->all_ranks) wanted.insert(wanted.end(), filter->ranks.begin(), filter->ranks.end());
    auto made = analyze::summarise(trace, sources, *filter, analyze::GroupBy::function);
    if (!made) return tl::unexpected(made.error());
    *summary = *std::move(made);
    return {};
  };
  for (const auto &[trace, summary] : {std::pair(&first, &compared.first), std::pair(&second, &compared.second)}) {
    if (auto done = sum(*trace, summary); !done) return tl::unexpected(done.error());
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  compared.diff = analyze::call_diff(first, second, wanted, results);
  for (const auto &[trace, cut] : {std::pair(&first, &compared.cut_first), std::pair(&second, &compared.cut_second)}) {
    for (const uint32_t rank : trace->ranks()) {
      if (!trace->rank_info(rank).complete) cut->push_back(rank);
    }
  }
  compared.same_ranks = compared.diff.only_first.empty() && compared.diff.only_second.empty();
  return compared;
}

void print(const ComparedCalls &compared, const std::optional<uint64_t> &limit, Output *out) {
  const CallDiff &diff = compared.diff;
  if (!diff.only_first.empty()) out->write(named_ranks(diff.only_first) + ": only in the first run\n");
  if (!diff.only_second.empty()) out->write(named_ranks(diff.only_second) + ": only in the second run\n");
  uint64_t left = limit.value_or(UINT64_MAX);
  for (const CallDifference &difference : diff.differences) {
    if (left-- == 0) break;
    out->write(head_of(difference, compared) + "\n");
    if (difference.first) out->write("  - " + analyze::call_text(*difference.first) + "\n");
    if (difference.second) out->write("  + " + analyze::call_text(*difference.second) + "\n");
  }
  if (compared.same_ranks) {
    Listing list({{"function", "function", true}, {"calls", "calls"}, {"bytes", "bytes"}, {"time", "seconds"}});
    bool any = false;
    for (const auto &[name, change] : changes_of(compared)) {
      if (!change.counts()) continue;
      any = true;
      const auto time = [](const SummaryLine &line) { return line.timed ? time_text(line.time_ns) : "-"; };
      list.add({words(name), words(change_text(grouped(change.first.calls), grouped(change.second.calls))),
                words(change_text(bytes_text(change.first.bytes), bytes_text(change.second.bytes))),
                words(change_text(time(change.first), time(change.second)))});
    }
    if (any) {
      out->write("\n");
      list.print(*out);
      out->write("\n");
    }
    out->write(times_text(compared.first, compared.second) + exactness_text(compared.first, compared.second));
  }
  std::string text = fmt::format("{} on {} compared: ", plural(diff.calls, "call"), plural(diff.ranks, "rank"));
  std::vector<uint32_t> cut;
  for (const CallDifference &difference : diff.differences) {
    if (cut_short_in(difference, compared) == nullptr) continue;
    cut.insert(cut.end(), difference.ranks.begin(), difference.ranks.end());
  }
  std::sort(cut.begin(), cut.end());
  cut.erase(std::unique(cut.begin(), cut.end()), cut.end());
  const auto alone = [](uint64_t calls, const char *where) {
    return calls == 0 ? std::string() : fmt::format("{} in the {} run alone, ", grouped(calls), where);
  };
  text += diff.other_order == 0 ? "the same in the same order"
          : goes_on(diff)       ? alone(diff.gone, "first") + alone(diff.added, "second") + "else in the same order"
          : diff.other_order == cut.size() ? "in the same order, until one run was cut short on " + named_ranks(cut)
                                           : "the order differs on " + plural(diff.other_order, "rank");
  if (diff.other_arguments + diff.other_results == 0) {
    text += fmt::format(", {}with the same arguments and results", goes_on(diff) ? "" : "until there ");
  }
  if (diff.other_arguments != 0) text += fmt::format(", other arguments in {}", grouped(diff.other_arguments));
  if (diff.other_results != 0) text += fmt::format(", other results in {}", grouped(diff.other_results));
  out->write(text + "\n");
  if (compared.same_ranks) out->write(only_change(diff));
}

std::string csv_of(const ComparedCalls &compared) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto text = [](const std::optional<analyze::Call> &call) {
    return call ? nlohmann::ordered_json(valid_utf8(analyze::call_text(*call))) : nlohmann::ordered_json();
  };
  for (const CallDifference &difference : compared.diff.differences) {
    rows.push_back({{"in", name_of(difference.kind)},
                    {"calls", difference.calls},
                    {"ranks", ranks_text(difference.ranks)},
                    {"thread", difference.thread},
                    {"call", difference.index},
                    {"goes_on", difference.goes_on},
                    {"arguments", difference.names},
                    {"first", text(difference.first)},
                    {"second", text(difference.second)}});
  }
  return csv_of(rows, {"in", "calls", "ranks", "thread", "call", "goes_on", "arguments", "first", "second"});
}

nlohmann::ordered_json json_of(const ComparedCalls &compared) {
  const CallDiff &diff = compared.diff;
  nlohmann::ordered_json out{{"equal", diff.equal()},
                             {"ranks", diff.ranks},
                             {"calls", diff.calls},
                             {"ranks_with_other_order", diff.other_order},
                             {"calls_with_other_arguments", diff.other_arguments},
                             {"calls_with_other_results", diff.other_results},
                             {"only_first", diff.only_first},
                             {"only_second", diff.only_second},
                             {"differences", nlohmann::ordered_json::array()},
                             {"functions", nlohmann::ordered_json::array()}};
  for (const CallDifference &difference : diff.differences) {
    const auto side = [](const std::optional<analyze::Call> &call) {
      return call ? analyze::call_json(*call) : nlohmann::ordered_json();
    };
    out["differences"].push_back({{"in", name_of(difference.kind)},
                                  {"calls", difference.calls},
                                  {"ranks", difference.ranks},
                                  {"thread", difference.thread},
                                  {"call", difference.index},
                                  {"goes_on", difference.goes_on},
                                  {"arguments", difference.names},
                                  {"first", side(difference.first)},
                                  {"second", side(difference.second)}});
  }
  for (const auto &[name, change] : changes_of(compared)) {
    const auto side = [](const SummaryLine &line) -> nlohmann::ordered_json {
      return {{"calls", line.calls},
              {"bytes", line.bytes},
              {"seconds", line.timed ? duration(line.time_ns).json : nullptr}};
    };
    out["functions"].push_back({{"function", name}, {"first", side(change.first)}, {"second", side(change.second)}});
  }
  const auto times = [](const Summary &summary, const std::vector<uint32_t> &cut) -> nlohmann::ordered_json {
    return {{"mpi_seconds", duration(summary.mpi_ns).json},
            {"init_finalize_seconds", summary.apart_ns ? duration(*summary.apart_ns).json : nullptr},
            {"outside_seconds", duration(summary.outside_ns).json},
            {"times_are", summary.within.empty() ? "exact" : summary.within},
            {"cut_short", cut}};
  };
  out["first"] = times(compared.first, compared.cut_first);
  out["second"] = times(compared.second, compared.cut_second);
  return out;
}

}  // namespace cairn::cli
