#include "cli/export_forms.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "analyze/overview.h"
#include "cli/kernels.h"
#include "export/blocks.h"
#include "export/dot.h"
#include "export/folded.h"
#include "export/goal.h"
#include "export/otf2.h"
#include "export/tables.h"
#include "export/timeline.h"
#include "export/walk.h"
#include "gpu/analyze/points.h"
#include "simgrid/export.h"
#include "simgrid/left_out.h"
#include "terminal/progress.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "timing/mode.h"
#include "trace/model/losses.h"

namespace cairn::cli {
namespace {

using exporting::LeftOut;
using exporting::OutFile;
using exporting::Scope;

/// More GPU events make files that no viewer opens.
constexpr uint64_t kMostEvents = 5'000'000;
/// What is told beforehand.
constexpr uint64_t kLarge = uint64_t{1} << 30;

/// Bytes that a call takes, as in NPB cg on 16 ranks, where one in three sends and one in three receives.
uint64_t bytes_a_call(const std::string &form) {
  if (form == "chrome") return 340;
  if (form == "perfetto") return 115;
  if (form == "csv") return 70;
  if (form == "sqlite") return 63;
  return 33;  // otf2
}

/// `room`: bytes of receives are told, which may be those that they had room for.
void say_left_out(const LeftOut &left_out, bool sizes, bool room = true) {
  const auto tell = [](uint64_t count, const char *thing, const char *things, const char *why) {
    if (count != 0) say(fmt::format("left out: {} {}", plural(count, thing, things), why));
  };
  tell(left_out.strangers, "message", nullptr, "of communicators or with processes that the trace does not know");
  tell(left_out.meetings, "part", nullptr, "in collective calls of communicators that the trace does not know");
  tell(left_out.nameless, "receive", nullptr, "of which the trace does not say whom they heard");
  if (!sizes) return;
  if (left_out.unsized != 0)
    say(fmt::format("{} of sizes that the trace does not know: 0 bytes", plural(left_out.unsized, "message")));
  if (left_out.room != 0 && room) {
    say(fmt::format("{} whose status the program ignored: as many bytes as they had room for",
                    plural(left_out.room, "receive")));
  }
}

/// Tells of a large one, if it will be.
void say_size(const ExportOptions &options, uint64_t calls, bool window) {
  const uint64_t bytes = calls * bytes_a_call(options.to);
  if (bytes < kLarge || window) return;
  const bool viewed = options.to == "perfetto" || options.to == "chrome";
  say(fmt::format("{}: this will be some {}{}; --rank and --time take a part of it", plural(calls, "call"),
                  bytes_text(bytes), viewed ? ", more than viewers open" : ""));
}

/// What the trace lacks, and so what is written.
void say_losses(const trace::Trace &trace, const std::vector<uint32_t> &wanted) {
  if (const size_t ranks = trace.ranks().size(); ranks != trace.rank_count()) {
    say(fmt::format("the trace has {} of {}", ranks, plural(trace.rank_count(), "rank")));
  }
  say_missing_calls(trace, wanted);
}

/// Where binary data would go to a terminal.
int refuse_terminal(const ExportOptions &options) {
  return refuse(fmt::format("{} is no text for a terminal", options.to),
                "name a file with --output, or send it on with >");
}

int no_output(const ExportOptions &options, const char *what) {
  return refuse(fmt::format("--to {} needs {} to write", options.to, what), "name one that is not there with --output",
                options.file);
}

/// Nothing was written; else only what was read is not all.
bool is_unwritten(const Result<void> &done) { return !done && done.error().kind != ErrorKind::unreadable; }

/// An error of reading after all that could be was written.
int report_end(const Result<void> &done, const std::string &file) {
  if (done) return kFine;
  return done.error().path.empty() ? report(done.error(), file) : report(done.error());
}

/// Standard output, and where it goes if it is not that.
int finish(OutFile *out, const Result<void> &done, const ExportOptions &options, const std::string &what) {
  if (const auto written = out->finish(); !written) return report(written.error());
  if (!options.output.empty()) say(fmt::format("{}: {}, {}", options.output, what, bytes_text(out->bytes())));
  return report_end(done, options.file);
}

std::unique_ptr<exporting::TimelineWriter> timeline_writer(const std::string &form, OutFile *out) {
  return form == "chrome" ? exporting::chrome_writer(out) : exporting::perfetto_writer(out);
}

/// Writes them, behind the processes that warps have; gives what is to be said of it.
std::string blocks_of(const gpu::Launches &launches, const std::vector<exporting::PlacedLaunch> &placed,
                      const exporting::WantedWarps &wanted, exporting::TimelineWriter *writer) {
  uint64_t warps = 0;
  for (const exporting::PlacedLaunch &each : placed) warps += each.launch->clocks.size();
  if (warps > kMostEvents) {
    say(fmt::format("left out: when the blocks of {} ran, more than viewers show; --launch exports some of them",
                    plural(placed.size(), "launch", "launches")));
    return "";
  }
  const auto process = wanted.processes + static_cast<uint32_t>(launches.launches.size()) + 1;
  const uint64_t blocks = exporting::write_blocks(launches, placed, process, writer);
  return blocks == 0 ? "" : fmt::format(", {}", plural(blocks, "block"));
}

int write_timeline(const ExportOptions &options, const trace::Trace &trace, Scope *scope, Progress *progress) {
  if (options.to == "perfetto" && options.output.empty() && isatty(STDOUT_FILENO) == 1) return refuse_terminal(options);
  auto out = OutFile::create(options.output);
  if (!out) return report(out.error());
  const auto writer = timeline_writer(options.to, &*out);
  exporting::TimelineCounts counts;
  auto done = exporting::write_calls(scope, !options.no_arrows, writer.get(), &counts);
  progress->clear();
  std::string what = fmt::format("{} of {}, {}", plural(counts.calls, "call"),
                                 plural(scope->wanted.ranks.size(), "rank"), plural(counts.arrows, "arrow"));
  const auto launches = analyze::gpu_launches(trace);
  if (done && !launches) done = tl::unexpected(launches.error());
  if (launches && !launches->launches.empty()) {
    const exporting::Kernels kernels = exporting::kernels_of(*scope, *launches);
    exporting::write_kernels(kernels, *launches, writer.get());
    if (!kernels.all.empty()) what += fmt::format(", {}", plural(kernels.all.size(), "kernel"));
    exporting::WantedWarps wanted;
    wanted.processes = trace.rank_count();
    what += blocks_of(*launches, exporting::with_clocks(kernels), wanted, writer.get());
    const exporting::WarpCounts warps = exporting::count_warps(*launches, wanted);
    if (warps.events > kMostEvents) {
      say(fmt::format("left out: {} of {}, more than viewers show; --launch, --warp and --limit export some of them",
                      plural(warps.events, "event"), plural(warps.warps, "warp")));
    } else {
      const auto written = exporting::write_warps(*launches, wanted, writer.get());
      if (done && !written) done = written;
      what += fmt::format(", {}", plural(warps.warps, "warp"));
    }
  }
  writer->finish();
  say_left_out(counts.left_out, false);
  return finish(&*out, done, options, what);
}

int write_archive(const ExportOptions &options, const trace::Trace &trace, Scope *scope, Progress *progress) {
  if (options.output.empty()) return no_output(options, "a folder");
  const auto launches = analyze::gpu_launches(trace);
  if (!launches) return report(launches.error(), options.file);
  exporting::Otf2Counts counts;
  const auto done = exporting::write_otf2(scope, *launches, options.output, &counts);
  progress->clear();
  if (is_unwritten(done)) return report_end(done, options.file);
  say_left_out(counts.left_out, true);
  Output out;
  out.write(fmt::format("{}/traces.otf2: {} of {}{}, {} in {}\n", options.output, plural(counts.calls, "call"),
                        plural(scope->wanted.ranks.size(), "rank"),
                        counts.kernels == 0 ? "" : ", " + plural(counts.kernels, "kernel"),
                        plural(counts.events, "event"), plural(counts.locations, "location")));
  const int code = out.finish();
  return code == kFine ? report_end(done, options.file) : code;
}

int write_tables(const ExportOptions &options, const trace::Trace &trace, Scope *scope, Progress *progress) {
  const bool csv = options.to == "csv";
  if (options.output.empty()) return no_output(options, csv ? "a folder" : "a file");
  const auto launches = analyze::gpu_launches(trace);
  if (!launches) return report(launches.error(), options.file);
  auto writer = csv ? exporting::csv_writer(options.output) : exporting::sqlite_writer(options.output);
  if (!writer) return report(writer.error());
  exporting::TableCounts counts;
  const auto done = exporting::write_tables(scope, *launches, writer->get(), &counts);
  progress->clear();
  if (is_unwritten(done)) return report_end(done, options.file);
  if (const auto written = (*writer)->finish(); !written) return report(written.error());
  say_left_out(counts.left_out, true);
  Output out;
  out.write(
      fmt::format("{}: {}, {}\n", options.output, plural(counts.calls, "call"), plural(counts.messages, "message")));
  const int code = out.finish();
  return code == kFine ? report_end(done, options.file) : code;
}

int write_folded(const ExportOptions &options, const trace::Trace &trace, const analyze::Sources &sources,
                 const analyze::Filter &filter) {
  auto out = OutFile::create(options.output);
  if (!out) return report(out.error());
  const auto counts = exporting::write_folded(trace, sources, filter, &*out);
  if (!counts) return report(counts.error(), options.file);
  if (!counts->of_time) say("this trace has no times: the numbers are those of calls");
  if (counts->untimed != 0) {
    say(fmt::format("left out: {} whose time this trace does not tell", plural(counts->untimed, "stack")));
  }
  if (!analyze::has_call_stacks(trace)) {
    say("this trace has no call stacks: each call stands under its own function; record with --callsites stack");
  }
  return finish(&*out, {}, options, plural(counts->stacks, "stack"));
}

int write_graph(const ExportOptions &options, Scope *scope, Progress *progress) {
  auto out = OutFile::create(options.output);
  if (!out) return report(out.error());
  exporting::GraphCounts counts;
  Result<void> done;
  if (options.graph == "grammar") {
    exporting::write_grammar_graph(scope, &*out, &counts);
  } else {
    done = exporting::write_message_graph(scope, &*out, &counts);
    progress->clear();
    say_left_out(counts.left_out, true, false);
  }
  return finish(&*out, done, options,
                fmt::format("{}, {}", plural(counts.nodes, "node"), plural(counts.edges, "edge")));
}

/// What makes a schedule of a run that ended one that may not end.
void say_endless(const trace::Trace &trace) {
  if (has_threads(trace)) {
    say("ranks call MPI from several threads, and a rank is one list of operations: a deadlock may be of that alone");
  }
  if (was_cut_short(trace)) {
    say("the run was cut short: what had been sent and was not yet asked for is never received");
  }
}

int write_goal(const ExportOptions &options, Scope *scope, Progress *progress) {
  auto out = OutFile::create(options.output);
  if (!out) return report(out.error());
  say_endless(*scope->trace);
  exporting::GoalCounts counts;
  const auto done = exporting::write_goal(scope, !options.no_gaps, &*out, &counts);
  progress->clear();
  say_left_out(counts.left_out, true);
  const auto tell = [](uint64_t count, const char *one, const char *several) {
    if (count != 0) say(fmt::format("{}: left out", plural(count, one, several)));
  };
  tell(counts.cancelled, "message that was cancelled", "messages that were cancelled");
  tell(counts.unfinished, "receive that was never completed", "receives that were never completed");
  tell(counts.strange, "call among neighbours that the trace does not tell",
       "calls among neighbours that the trace does not tell");
  return finish(&*out, done, options,
                fmt::format("{}, {}, {}", plural(counts.operations, "operation"), plural(counts.sends, "message"),
                            plural(counts.collectives, "part in a collective call", "parts in collective calls")));
}

int need_times(const ExportOptions &options) {
  return report(Error{ErrorKind::usage, fmt::format("--to {}: this trace has no times of single calls", options.to),
                      options.file, Error::kNoOffset,
                      "record with --timing context, or take the order of each rank's calls alone with --logical"});
}

}  // namespace

int export_calls(const ExportOptions &options, const trace::Trace &trace) {
  if (trace.class_count() == 0) {
    return refuse("this trace holds no MPI calls", "--to perfetto and --to chrome write its GPU kernels", options.file);
  }
  const bool timed = timing::keeps_times(trace.run().timing);
  const bool timeline = options.to == "perfetto" || options.to == "chrome" || options.to == "otf2";
  if (timeline && !timed && !options.logical) {
    // What warps recorded has no times anyway.
    const auto launches = analyze::gpu_launches(trace);
    if (options.to == "otf2" || !launches || launches->launches.empty()) return need_times(options);
    say("this trace has no times of single calls: its GPU kernels alone are written");
    return export_warps(options, trace);
  }
  if (options.logical && timed) {
    return refuse("this trace has times: --logical is for those that have none", "leave it out", options.file);
  }
  const analyze::Sources sources(trace);
  const auto filter = analyze::make_filter(options.filter, trace, sources);
  if (!filter) return report(filter.error());
  for (const std::string &warning : sources.warnings()) say(warning);
  say_losses(trace, filter->ranks);
  if (options.to == "folded") return write_folded(options, trace, sources, *filter);
  auto scope = Scope::of(trace, sources, *filter);
  if (!scope) return report(scope.error(), options.file);
  scope->logical = options.logical;
  if (timeline && timed) say_exactness(trace, Shown::begins_too);
  if (options.logical) say("no times: each rank's calls stand a microsecond apart, whatever the others do");
  const uint64_t calls = exporting::count_calls(*scope);
  if (options.to == "goal") {
    if (const auto may = simgrid::may_be_exported(trace); !may) return report(may.error(), options.file);
    for (const auto &[what, count] : simgrid::left_out(trace)) {
      say(fmt::format("left out: {} of {}", plural(count, "call"), what));
    }
  }
  if (options.to != "dot" && options.to != "goal") say_size(options, calls, filter->window.has_value());
  Progress matching(analyze::overview(trace).calls, "calls matched");
  scope->matching = [&matching](uint64_t more) { matching.add(more); };
  Progress progress(calls, "calls");
  scope->progress = [&progress](uint64_t more) { progress.add(more); };
  if (options.to == "otf2") return write_archive(options, trace, &*scope, &progress);
  if (options.to == "goal") return write_goal(options, &*scope, &progress);
  if (options.to == "dot") return write_graph(options, &*scope, &progress);
  if (options.to == "csv" || options.to == "sqlite") return write_tables(options, trace, &*scope, &progress);
  return write_timeline(options, trace, &*scope, &progress);
}

int export_warps(const ExportOptions &options, const trace::Trace &trace) {
  const auto launches = kernels_of(trace, options.file);
  if (!launches) return report(launches.error());
  exporting::WantedWarps wanted;
  for (const auto &[text, list] :
       {std::pair(&options.launches, &wanted.launches), std::pair(&options.warps, &wanted.warps)}) {
    if (text->empty()) continue;
    auto read = analyze::parse_ranks(*text);
    if (!read) return refuse(fmt::format("'{}' is no list of numbers", *text), "write it as in 0-7,12");
    *list = *std::move(read);
  }
  if (!wanted.launches.empty() && wanted.launches.back() >= launches->launches.size()) {
    return refuse(fmt::format("there is no launch {}", wanted.launches.back()),
                  fmt::format("choose one of 0 to {}", launches->launches.size() - 1), options.file);
  }
  wanted.points = !options.no_points;
  wanted.most_events = options.filter.limit.value_or(UINT64_MAX);
  const exporting::WarpCounts counts = exporting::count_warps(*launches, wanted);
  if (counts.warps == 0) return refuse("no such warp was traced", "cairn gpu divergence names some", options.file);
  if (counts.events > kMostEvents) {
    return refuse(fmt::format("these are {} of {}, more than viewers show", plural(counts.events, "event"),
                              plural(counts.warps, "warp")),
                  "choose some with --launch, --warp and --limit", options.file);
  }
  if (options.to == "perfetto" && options.output.empty() && isatty(STDOUT_FILENO) == 1) return refuse_terminal(options);
  auto out = OutFile::create(options.output);
  if (!out) return report(out.error());
  const auto writer = timeline_writer(options.to, &*out);
  const auto done = exporting::write_warps(*launches, wanted, writer.get());
  std::string what = plural(counts.warps, "warp");
  if (wanted.warps.empty()) {
    what += blocks_of(*launches, exporting::with_clocks(*launches, wanted.launches), wanted, writer.get());
  }
  writer->finish();
  return finish(&*out, done, options, what);
}

}  // namespace cairn::cli
