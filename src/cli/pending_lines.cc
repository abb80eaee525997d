#include "cli/pending_lines.h"

#include <fmt/format.h>

#include "analyze/filter.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::PendingCall;

/// "31.0 s", or "12.1 s to 31.0 s" where it is not about the same.
std::string range_text(const PendingCall::Range &range) {
  const std::string most = time_text(range.most_ns);
  return range.most_ns - range.least_ns < range.most_ns / 20 ? most : time_text(range.least_ns) + " to " + most;
}

std::string line(const PendingCall &call) {
  std::string text = named_ranks(call.ranks);
  if (call.several_threads) text += fmt::format(" thread {}", call.thread);
  const std::string at = call.position.text().empty() ? std::string() : " at " + call.position.text();
  if (call.inside) {
    text += " in " + call.function;
    if (!call.about.empty()) text += " " + call.about;
    if (call.differs) text += " (arguments differ)";
    if (!call.within.empty()) text += ", within " + call.within + ",";
    text += at;
    if (call.since) text += " for " + range_text(*call.since);
    return text;
  }
  text += call.ended ? " ended outside MPI" : " outside MPI";
  if (call.function.empty()) return call.since ? text + " for " + range_text(*call.since) : text;
  text += call.since ? ", since " : ", after ";
  text += call.function + at;
  return call.since ? text + " ended " + range_text(*call.since) + " ago" : text;
}

}  // namespace

std::vector<std::string> pending_lines(const std::vector<PendingCall> &calls) {
  constexpr size_t kMost = 20;
  std::vector<std::string> lines;
  for (const PendingCall &call : analyze::gathered(calls, kMost)) lines.push_back(line(call));
  return lines;
}

nlohmann::ordered_json pending_json(const std::vector<PendingCall> &calls) {
  auto list = nlohmann::ordered_json::array();
  for (const PendingCall &call : calls) {
    nlohmann::ordered_json object{{"ranks", call.ranks}, {"thread", call.thread}, {"inside", call.inside}};
    if (call.ended) object["ended"] = true;
    object["function"] = call.function.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(call.function);
    if (call.inside) object["about"] = valid_utf8(call.about);
    if (call.call.function != nullptr) object["call"] = analyze::call_json(call.call);
    if (!call.within.empty()) object["within"] = call.within;
    object["site"] = valid_utf8(call.position.text());
    if (call.since) {
      object["seconds"] = {{"least", static_cast<double>(call.since->least_ns) * 1e-9},
                           {"most", static_cast<double>(call.since->most_ns) * 1e-9}};
    } else {
      object["seconds"] = nullptr;
    }
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace cairn::cli
