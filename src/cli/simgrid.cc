#include "cli/simgrid.h"

#include <fmt/format.h>

#include "analyze/sources.h"
#include "simgrid/left_out.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "timing/mode.h"

namespace cairn::cli {
namespace {

void say_before(const trace::Trace &trace, const simgrid::ExportSettings &settings) {
  for (const auto &[what, calls] : simgrid::left_out(trace)) {
    say(fmt::format("left out: {} of {}", plural(calls, "call"), what));
  }
  if (settings.gaps && !timing::keeps_times(trace.run().timing)) {
    say(timing::keeps_nothing(trace.run().timing)
            ? "the trace has no times: nothing between calls takes any"
            : "the trace has no times of single calls: what a rank computed stands before its calls in equal parts");
  }
}

void say_after(const simgrid::Counts &counts) {
  for (const auto &[why, count] : counts.left_out) say(fmt::format("left out: {} {}", grouped(count), why));
}

Result<simgrid::Counts> export_to(const trace::Trace &trace, const std::string &folder,
                                  const simgrid::ExportSettings &settings, bool quiet) {
  if (auto may = simgrid::may_be_exported(trace); !may) return tl::unexpected(may.error());
  if (!quiet) say_before(trace, settings);
  const analyze::Sources sources(trace, analyze::Sources::Look::in_trace_only);
  auto counts = simgrid::export_run(trace, sources, folder, settings);
  if (counts && !quiet) say_after(*counts);
  return counts;
}

}  // namespace

int write_simgrid(const trace::Trace &trace, const std::string &file, const std::string &folder,
                  const simgrid::ExportSettings &settings) {
  if (folder.empty()) {
    return refuse("there is no folder for the ranks' files", "name one that is not there with --output", file);
  }
  const auto counts = export_to(trace, folder, settings, false);
  if (!counts) return counts.error().path.empty() ? report(counts.error(), file) : report(counts.error());
  Output out;
  out.write(fmt::format("{}: {} of {}: {} with {}, {}, {} (of which {} as messages)\n", simgrid::list_in(folder),
                        plural(counts->lines, "action"), plural(trace.rank_count(), "rank"),
                        plural(counts->sends, "send"), bytes_text(counts->bytes), plural(counts->receives, "receive"),
                        plural(counts->collectives, "part in a collective call", "parts in collective calls"),
                        grouped(counts->in_messages)));
  return out.finish();
}

}  // namespace cairn::cli
