#include "export/folded.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "analyze/decode.h"
#include "analyze/summary.h"
#include "text/utf8.h"
#include "timing/mode.h"

namespace cairn::exporting {
namespace {

/// A frame's name is anything but what separates frames, or lines.
std::string frame(std::string name) {
  for (char &each : name) {
    if (each == ';') each = ',';
    if (each == '\n' || each == '\r') each = ' ';
  }
  return valid_utf8(name);
}

std::string function_of(const analyze::Position &position) {
  const std::string named = analyze::without_parameters(position.function);
  return frame(named.empty() ? position.brief() : named);
}

std::string stack_of(const analyze::SummaryLine &line) {
  std::string stack;
  const auto add = [&](const std::string &name) { stack += (stack.empty() ? "" : ";") + name; };
  for (auto caller = line.callers.rbegin(); caller != line.callers.rend(); ++caller) {
    if (!caller->module.empty()) add(function_of(*caller));
  }
  // Where only the call's own function is known, its name may be missing; its place is told with the call.
  if (!line.position.function.empty()) add(function_of(line.position));
  const std::string place = line.position.brief();
  add(frame(analyze::function_name(line.function) + (place.empty() ? "" : " " + place)));
  return stack;
}

}  // namespace

Result<FoldedCounts> write_folded(const trace::Trace &trace, const analyze::Sources &sources,
                                  const analyze::Filter &filter, OutFile *out) {
  FoldedCounts counts;
  counts.of_time = !timing::keeps_nothing(trace.run().timing);
  analyze::Filter wanted = filter;
  wanted.outermost = counts.of_time;  // which hold the time of those within them
  const auto summary =
      analyze::summarise(trace, sources, wanted, analyze::GroupBy::call_site, analyze::LineBytes::left_out);
  if (!summary) return tl::unexpected(summary.error());
  std::map<std::string, uint64_t> stacks;
  for (const analyze::SummaryLine &line : summary->lines) {
    if (counts.of_time && !line.timed) {
      ++counts.untimed;
      continue;
    }
    stacks[stack_of(line)] += counts.of_time ? line.time_ns : line.calls;
  }
  if (counts.of_time && !summary->filtered && summary->outside_ns != 0) stacks["(outside MPI)"] = summary->outside_ns;
  for (const auto &[stack, value] : stacks) {
    out->write(fmt::format("{} {}\n", stack, value));
    ++counts.stacks;
    counts.sum += value;
  }
  return counts;
}

}  // namespace cairn::exporting
