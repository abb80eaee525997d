#include "cli/diff_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analyze/decode.h"
#include "tell/sites.h"
#include "terminal/csv.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace {

using analyze::RunUse;
using analyze::SiteChange;
using analyze::SiteUse;
using analyze::SizeDiff;

/// "1,680", "0.8", "12.3": of a mean.
std::string mean_text(double mean) {
  if (mean == std::floor(mean) || mean >= 1000) return grouped(static_cast<uint64_t>(std::llround(mean)));
  return fmt::format("{:.{}f}", mean, mean < 1 ? 2 : 1);
}
std::string mean_bytes_text(double mean) { return bytes_text(static_cast<uint64_t>(std::llround(mean))); }
std::string mean_time_text(double mean) { return time_text(static_cast<uint64_t>(std::llround(mean))); }

std::string change(const std::string &first, const std::string &second) {
  return first == second ? first : first + " -> " + second;
}

/// What a run's sums come to on each rank.
Cell factor(double first, double second) {
  if (first == 0) return nothing();
  return {fmt::format("x {:.3g}", second / first), second / first};
}

Listing runs_of(const SizeDiff &diff) {
  Listing list({{"", "what", true}, {"first", "first"}, {"second", "second"}, {"change", "change"}});
  const auto mean = [](uint64_t sum, const RunUse &run) {
    return run.ranks == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(run.ranks);
  };
  const auto add = [&](const char *what, double first, double second, const auto &text) {
    list.add({words(what), {text(first), first}, {text(second), second}, factor(first, second)});
  };
  const RunUse &first = diff.first;
  const RunUse &second = diff.second;
  const auto both = [](const RunUse &run) { return run.mpi_ns + run.apart_ns.value_or(0); };
  const bool apart = first.apart_ns && second.apart_ns;
  add("ranks", static_cast<double>(first.ranks), static_cast<double>(second.ranks), mean_text);
  add("time, longest of a rank", static_cast<double>(first.run_ns), static_cast<double>(second.run_ns), mean_time_text);
  add("calls, a rank", mean(first.calls, first), mean(second.calls, second), mean_text);
  add("outside MPI, a rank", mean(first.outside_ns, first), mean(second.outside_ns, second), mean_time_text);
  add("outside MPI, all ranks", static_cast<double>(first.outside_ns), static_cast<double>(second.outside_ns),
      mean_time_text);
  add(apart ? "in MPI, a rank" : "in MPI, Init and Finalize, a rank", mean(apart ? first.mpi_ns : both(first), first),
      mean(apart ? second.mpi_ns : both(second), second), mean_time_text);
  return list;
}

std::string bytes_of(const SiteUse &use) { return use.sized == 0 ? "?" : mean_bytes_text(use.bytes_a_call()); }

/// "more often", …: how a site that both runs have changed.
struct Counts {
  uint64_t same = 0;
  uint64_t more = 0;
  uint64_t less = 0;
  uint64_t larger = 0;
  uint64_t smaller = 0;
  uint64_t only_first = 0;
  uint64_t only_second = 0;
};
Counts counts_of(const SizeDiff &diff) {
  Counts counts;
  for (const SiteChange &site : diff.sites) {
    if (site.same()) {
      ++counts.same;
    } else if (!site.first || !site.second) {
      ++(site.first ? counts.only_first : counts.only_second);
    } else {
      const double calls = site.second->calls_a_rank() - site.first->calls_a_rank();
      const double bytes = site.second->bytes_a_call() - site.first->bytes_a_call();
      if (calls != 0) ++(calls > 0 ? counts.more : counts.less);
      if (bytes != 0) ++(bytes > 0 ? counts.larger : counts.smaller);
    }
  }
  return counts;
}

nlohmann::ordered_json json_of(const RunUse &run) {
  return {{"ranks", run.ranks},
          {"calls", run.calls},
          {"seconds", duration(run.run_ns).json},
          {"outside_seconds", duration(run.outside_ns).json},
          {"mpi_seconds", duration(run.mpi_ns).json},
          {"init_finalize_seconds", run.apart_ns ? duration(*run.apart_ns).json : nullptr}};
}

nlohmann::ordered_json json_of(const std::optional<SiteUse> &use) {
  if (!use) return nullptr;
  return {{"site", site_json(use->position)},
          {"ranks", use->ranks},
          {"calls", use->calls},
          {"bytes", use->moves ? nlohmann::ordered_json(use->bytes) : nullptr},
          {"unsized_calls", use->moves ? nlohmann::ordered_json(use->calls - use->sized) : nullptr},
          {"seconds", use->ns ? duration(*use->ns).json : nullptr}};
}

}  // namespace

bool is_equal(const SizeDiff &diff) {
  return std::all_of(diff.sites.begin(), diff.sites.end(), [](const SiteChange &site) { return site.same(); });
}

void print(const SizeDiff &diff, const std::optional<uint64_t> &limit, Output *out) {
  out->write("other numbers of ranks: compared by what a rank does on average\n\n");
  runs_of(diff).print(*out);
  Listing list({{"place", "place", true},
                {"function", "function", true},
                {"ranks", "ranks", false, 1},
                {"calls a rank", "calls"},
                {"bytes a call", "bytes"},
                {"time a rank", "seconds", false, 2}});
  bool any = false;
  for (const SiteChange &site : diff.sites) {
    if (site.same()) continue;
    any = true;
    const bool moves = (site.first && site.first->moves) || (site.second && site.second->moves);
    const auto text = [&](const auto &of) {
      const std::string first = site.first ? of(*site.first) : "-";
      const std::string second = site.second ? of(*site.second) : "-";
      return change(first, second);
    };
    list.add({words((site.second ? *site.second : *site.first).position.brief()),
              words(analyze::function_name(site.function)),
              words(text([](const SiteUse &use) { return grouped(use.ranks); })),
              words(text([](const SiteUse &use) { return mean_text(use.calls_a_rank()); })),
              words(moves ? text(bytes_of) : ""),
              words(text([](const SiteUse &use) { return use.ns ? mean_time_text(use.ns_a_rank()) : "-"; }))});
  }
  if (any) {
    out->write("\n");
    list.print(*out, limit.value_or(UINT64_MAX));
  }
  const Counts counts = counts_of(diff);
  std::vector<std::string> parts;
  const auto add = [&](uint64_t number, const std::string &what) {
    if (number != 0) parts.push_back(fmt::format("{} {}", grouped(number), what));
  };
  add(counts.same, "as often and with as many bytes");
  add(counts.more, "more often");
  add(counts.less, "less often");
  add(counts.larger, "with more bytes a call");
  add(counts.smaller, "with fewer bytes a call");
  add(counts.only_first, fmt::format("only with {}", plural(diff.first.ranks, "rank")));
  add(counts.only_second, fmt::format("only with {}", plural(diff.second.ranks, "rank")));
  std::string text = plural(diff.sites.size(), "call site") + ": ";
  for (const std::string &part : parts) text += (&part == &parts.front() ? "" : ", ") + part;
  out->write("\n" + text + "\n");
}

nlohmann::ordered_json json_of(const SizeDiff &diff) {
  nlohmann::ordered_json out{{"equal", is_equal(diff)},
                             {"first", json_of(diff.first)},
                             {"second", json_of(diff.second)},
                             {"sites", nlohmann::ordered_json::array()}};
  for (const SiteChange &site : diff.sites) {
    out["sites"].push_back({{"function", analyze::function_name(site.function)},
                            {"same", site.same()},
                            {"first", json_of(site.first)},
                            {"second", json_of(site.second)}});
  }
  return out;
}

std::string csv_of(const SizeDiff &diff) { return csv_of(json_of(diff)["sites"], {"function", "same"}); }

}  // namespace cairn::cli
