#include "cli/diff_replay.h"

#include <fmt/format.h>

#include "analyze/filter.h"
#include "analyze/replay_diff.h"
#include "cli/reading.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"

namespace cairn::cli {
namespace {

using analyze::ReplayDiff;
using analyze::ReplayDifference;
using nlohmann::ordered_json;

std::string head_of(const ReplayDifference &difference) {
  std::string text = fmt::format("rank {}", difference.rank);
  if (difference.thread != 0) text += fmt::format(", thread {}", difference.thread);
  text += fmt::format(": call {} ", grouped(difference.index));
  if (!difference.first || !difference.second) {
    return text + (difference.first ? "was not made again" : "was not made in the first run");
  }
  if (difference.names.empty()) return text + "is another one";
  std::string names;
  for (const std::string &name : difference.names) names += (names.empty() ? "" : ", ") + name;
  return text + "differs in " + names;
}

ordered_json json_of(const ReplayDiff &diff) {
  ordered_json out{{"schema", "cairn.diff.replay/1"},
                   {"equal", diff.equal()},
                   {"ranks", diff.ranks},
                   {"calls", diff.calls},
                   {"forced_receives", diff.forced},
                   {"only_first", diff.only_first},
                   {"only_second", diff.only_second},
                   {"differences", ordered_json::array()}};
  for (const ReplayDifference &difference : diff.differences) {
    const auto side = [](const std::optional<analyze::Call> &call) {
      return call ? analyze::call_json(*call) : ordered_json();
    };
    out["differences"].push_back({{"rank", difference.rank},
                                  {"thread", difference.thread},
                                  {"call", difference.index},
                                  {"arguments", difference.names},
                                  {"first", side(difference.first)},
                                  {"second", side(difference.second)}});
  }
  return out;
}

}  // namespace

int diff_replay(const trace::Trace &first, const trace::Trace &second, const std::string &ranks,
                const std::optional<uint64_t> &limit, bool json) {
  const analyze::Sources sources(first);
  const auto filter = analyze::make_filter({.ranks = ranks}, first, sources);
  if (!filter) return report(filter.error());
  const std::vector<uint32_t> wanted =
      filter->all_ranks ? std::vector<uint32_t>() : std::vector<uint32_t>(filter->ranks.begin(), filter->ranks.end());
  Reading reading(first, second, 1);
  const ReplayDiff diff = analyze::replay_diff(first, second, wanted);
  reading.end();
  Output out;
  const int code = diff.equal() ? 0 : 1;
  if (json) {
    out.write(json_of(diff).dump(2) + "\n");
    const int written = out.finish();
    return written != 0 ? written : code;
  }
  for (const auto &[only, where] : {std::pair(&diff.only_first, "first"), std::pair(&diff.only_second, "second")}) {
    if (!only->empty()) out.write(fmt::format("ranks {}: only in the {} run\n", ranks_text(*only), where));
  }
  uint64_t left = limit.value_or(UINT64_MAX);
  for (const ReplayDifference &difference : diff.differences) {
    if (left-- == 0) break;
    out.write(head_of(difference) + "\n");
    if (difference.first) out.write("  - " + analyze::call_text(*difference.first) + "\n");
    if (difference.second) out.write("  + " + analyze::call_text(*difference.second) + "\n");
  }
  std::string text = fmt::format("{} on {} compared: ", plural(diff.calls, "call"), plural(diff.ranks, "rank"));
  text += diff.equal() ? "the same calls in the same order, with the same arguments and messages"
                       : fmt::format("{} differ; the first difference of each is shown",
                                     plural(diff.differences.size(), "thread"));
  if (diff.forced != 0)
    text += fmt::format("; {} asked for the message that it got",
                        plural(diff.forced, "receive from anybody", "receives from anybody"));
  out.write(text + "\n");
  const int written = out.finish();
  return written != 0 ? written : code;
}

}  // namespace cairn::cli
