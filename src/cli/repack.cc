// cairn repack: makes another trace of one, in which something is told otherwise: with --clocks, its axis of time, so
// that no message arrives before it was sent; with --timing, the times of its calls, in another mode.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "analyze/logical_clock.h"
#include "analyze/messages.h"
#include "analyze/sources.h"
#include "cli/inspect.h"
#include "cli/recording.h"
#include "cli/retiming.h"
#include "cli/verbs.h"
#include "spool/join.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "timing/setting.h"
#include "trace/read/edit.h"

namespace cairn::cli {
namespace {

struct RepackOptions : Inspection {
  std::string output;
  bool clocks = false;
  std::vector<std::string> timing;
  bool force = false;
  bool quiet = false;
};

/// What --clocks found.
struct Clocks {
  trace::Corrections corrections;
  analyze::MessageCounts counts;
};

/// `trace` has its clocks as they were measured.
Result<Clocks> clocks_of(const trace::Trace &trace, const std::string &file) {
  if (!timing::keeps_times(trace.run().timing)) {
    return tl::unexpected(Error{ErrorKind::usage, "--clocks: this trace has no times of single calls", file,
                                Error::kNoOffset, "record with --timing lossless"});
  }
  if (!trace.axis().common()) {
    return tl::unexpected(Error{ErrorKind::usage, "--clocks: this trace does not say how its ranks' clocks stood", file,
                                Error::kNoOffset, "record it again"});
  }
  const analyze::Sources sources(trace);
  const auto messages = analyze::Messages::of(trace, sources);
  if (!messages) return tl::unexpected(messages.error());
  std::vector<analyze::RankStart> ranks;
  for (const uint32_t rank : trace.ranks()) {
    const auto begin = trace.place_on_axis(rank).begin_ns;
    const int64_t uncertainty = trace.rank_info(rank).clock.uncertainty_ns;
    ranks.push_back({rank, static_cast<uint64_t>(std::max<int64_t>(0, begin)),
                     static_cast<uint64_t>(std::max<int64_t>(0, uncertainty))});
  }
  Clocks found;
  const auto replay = [&](analyze::Arrivals *arrivals) -> Result<void> {
    auto counts = messages->replay(arrivals);
    if (!counts) return tl::unexpected(counts.error());
    found.counts = *counts;
    return {};
  };
  auto corrections = analyze::logical_clock(ranks, replay);
  if (!corrections) return tl::unexpected(corrections.error());
  found.corrections = *std::move(corrections);
  return found;
}

/// "1,000 messages and 50 ends of collective calls: 7 reversed, …"
std::string clocks_text(const Clocks &found, const trace::Axis &axis) {
  const trace::Corrections &made = found.corrections;
  std::string text = plural(found.counts.messages, "message");
  if (found.counts.collective != 0) {
    text += fmt::format(" and {} of collective calls", plural(found.counts.collective, "end"));
  }
  if (made.reversed == 0) {
    text += ": none reversed, the clocks stay as they are";
  } else {
    text += fmt::format(": {} reversed", grouped(made.reversed));
    if (axis.uncertainty_ns() != 0) {
      text += fmt::format(" ({} by more than the clocks are uncertain)", grouped(made.doubtless));
    }
    text += fmt::format(", {} moved, by {} at most", grouped(made.moved), time_text(made.largest_ns));
  }
  if (made.left != 0) text += fmt::format("; {} still reversed, by calls that took no time", grouped(made.left));
  const analyze::MessageCounts &counts = found.counts;
  if (counts.left_out() == 0) return text;
  std::string why;
  const auto add = [&why](uint64_t count, const char *reason) {
    if (count != 0) why += fmt::format("{}{} {}", why.empty() ? "" : ", ", grouped(count), reason);
  };
  add(counts.nameless, "of any sender without a status");
  add(counts.lost, "of ranks of which calls are missing");
  add(counts.unsent, "that nobody here sent");
  add(counts.untimed, "without a time");
  add(counts.apart, "of calls and communicators that are not followed");
  return text + fmt::format("; {} not matched: {}", grouped(counts.left_out()), why);
}

/// The trace in the timing mode that was asked for; `*text` says what it came to.
Result<trace::Trace> changed(const trace::Trace &trace, const RepackOptions &options, std::string *text) {
  const auto setting = timing_setting(options.timing);
  if (!setting) return tl::unexpected(setting.error());
  std::vector<std::string> unmet;
  const auto made = in_mode(trace, *setting, &unmet);
  if (!made) return tl::unexpected(made.error());
  for (const std::string &site : unmet) say(fmt::format("--timing: no call site is called {}", site));
  *text = fmt::format("{}: ", setting->text());
  if (made->after.calls == 0) {
    *text += bytes_text(made->file.size());
  } else {
    *text += fmt::format("times in {} instead of {}", bytes_text(made->after.bytes), bytes_text(made->before.bytes));
    if (setting->mode->bounds != timing::Bounds::none) {
      *text += fmt::format(", a call's begin off by {} at most", time_text(made->after.clock_error_ns));
    }
  }
  return trace::Trace::from_bytes(made->file, options.file);
}

int repack(RepackOptions &options) {
  const auto wrong = [](const char *what, const char *hint) {
    return report(Error{ErrorKind::usage, what, {}, Error::kNoOffset, hint});
  };
  if (!options.clocks && options.timing.empty()) {
    return wrong("repack needs to know what to change",
                 "--timing keeps times in another mode, --clocks corrects the ranks' clocks");
  }
  if (options.output.empty()) return wrong("repack needs to know which trace to write", "name it with -o");
  if (auto may = spool::may_write(options.output, options.output, options.force); !may) return report(may.error());
  auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  if (options.found) say(fmt::format("{}, the newest trace in this folder", options.file));
  std::vector<std::string> done;
  std::optional<Clocks> clocks;
  if (options.clocks) {
    if (const std::string within = timing::exactness(trace->run().timing); !within.empty()) {
      say(fmt::format("--clocks: times are {} of what they were, and what moves may be that: correct a lossless trace",
                      within));
    }
    trace->take_corrections_back();
    auto found = clocks_of(*trace, options.file);
    if (!found) return report(found.error(), options.file);
    done.push_back(clocks_text(*found, trace->axis()));
    clocks = *std::move(found);
  }
  if (!options.timing.empty()) {
    auto other = changed(*trace, options, &done.emplace_back());
    if (!other) return report(other.error(), options.file);
    trace = std::move(other);
  }
  const Bytes file = clocks ? trace::with_corrections(*trace, clocks->corrections) : trace::as_it_is(*trace);
  const spool::TraceBytes bytes = {file, trace->absent(), options.file};
  if (auto written = spool::write_trace(options.output, bytes, options.force); !written) return report(written.error());
  for (const std::string &text : done) {
    if (!options.quiet) say(fmt::format("{}: {}", options.output, text));
  }
  return kFine;
}

}  // namespace

Action declare_repack(Options &verb) {
  auto options = std::make_shared<RepackOptions>();
  add_file(verb, *options);
  verb.text("-o,--output", options->output, "Trace to write", "FILE");
  add_timing_option(verb, options->timing, "");
  verb.flag("--clocks", options->clocks, "Correct the ranks' clocks, so that no message arrives before it was sent");
  verb.flag("-q,--quiet", options->quiet, "Say nothing when all is well");
  verb.flag("-f,--force", options->force, "Overwrite an existing trace");
  return [options] { return repack(*options); };
}

}  // namespace cairn::cli
