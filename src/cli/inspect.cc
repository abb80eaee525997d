#include "cli/inspect.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "analyze/open_trace.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "timing/setting.h"
#include "trace/read/exactness.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> newest_trace() {
  std::error_code error;
  std::string newest;
  fs::file_time_type when;
  for (const auto &entry : fs::directory_iterator(".", error)) {
    std::error_code ignored;
    if (entry.path().extension() != ".cairn" || !entry.is_regular_file(ignored)) continue;
    const auto time = entry.last_write_time(ignored);
    if (ignored) continue;
    const std::string name = entry.path().filename().string();
    if (newest.empty() || time > when || (time == when && name > newest)) {
      newest = name;
      when = time;
    }
  }
  if (newest.empty()) {
    return fail(ErrorKind::usage, "no trace named, and none in this folder",
                "record one with: cairn record -- mpiexec -n 4 ./app");
  }
  return newest;
}

Result<Bytes> read_all(int file) {
  constexpr size_t kPiece = size_t{1} << 20;
  Bytes bytes;
  for (;;) {
    const size_t had = bytes.size();
    bytes.resize(had + kPiece);
    const ssize_t got = read(file, bytes.data() + had, kPiece);
    if (got < 0 && errno != EINTR) {
      return tl::unexpected(Error{ErrorKind::unreadable, fmt::format("cannot be read: {}", std::strerror(errno)),
                                  "standard input", Error::kNoOffset,
                                  "give it a trace, as in cairn info - < run.cairn"});
    }
    bytes.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return bytes;
  }
}

/// With the bundles that can have ranks that --rank names.
Result<trace::Trace> open_for_ranks(const Inspection &inspection) {
  const auto ranks = analyze::parse_ranks(inspection.filter.ranks);
  if (!ranks) return trace::Trace::open(inspection.file);  // make_filter says so
  auto trace = trace::Trace::open(inspection.file, [&ranks](uint32_t least, uint32_t greatest) {
    const auto first = std::lower_bound(ranks->begin(), ranks->end(), least);
    return first != ranks->end() && *first <= greatest;
  });
  // A bundle that tells too few ranks is damaged, and said to be, where all are opened.
  const auto is_missing = [&trace](uint32_t rank) { return trace->sequences(rank).empty(); };
  const bool complete = !trace || std::none_of(ranks->begin(), ranks->end(), is_missing);
  return complete ? std::move(trace) : trace::Trace::open(inspection.file);
}

/// Of these ranks.
std::vector<uint32_t> missing_calls(const trace::Trace &trace, const std::vector<uint32_t> &ranks) {
  std::vector<uint32_t> lossy;
  for (const uint32_t rank : ranks) {
    const auto losses = trace::read_losses(trace.rank_info(rank).degraded);
    const auto lacks = [](const trace::Loss &loss) { return loss.lacks_calls(); };
    if (std::any_of(losses.begin(), losses.end(), lacks)) lossy.push_back(rank);
  }
  return lossy;
}

}  // namespace

void add_file(Options &verb, Inspection &inspection) {
  verb.text("trace", inspection.file,
            "Trace to read, - for standard input; the newest .cairn in this folder if left out");
}

void add_json(Options &verb, Inspection &inspection) {
  verb.flag("--json", inspection.json, "Print JSON, with the name of its schema");
}

void add_csv_and_json(Options &verb, Inspection &inspection, const std::string &lines) {
  verb.flag("--csv", inspection.csv, "Print CSV, " + lines);
  add_json(verb, inspection);
  verb.apart("--csv", "--json", "--csv and --json cannot go together");
}

void add_call_filters(Options &verb, Inspection &inspection) {
  analyze::FilterText &filter = inspection.filter;
  verb.text("--rank", filter.ranks, "Only these ranks, as in 0-7,12; ^3 leaves one out, as in each list", "LIST");
  verb.repeated("--function", filter.functions, "Only functions that match, as in 'MPI_*send,^MPI_Rsend'", "GLOB");
  verb.repeated("--site", filter.sites, "Only calls made at main.c:42, in main.c, by exchange or at app+0x12", "WHERE");
  verb.repeated("--peer", filter.peers, "Only messages and one-sided access with these ranks, or any", "LIST");
  verb.repeated("--tag", filter.tags, "Only messages with these tags, as in 7,100-199, or any", "LIST");
  verb.repeated("--comm", filter.comms, "Only calls on this communicator, as cairn dump names it", "NAME");
  verb.text("--thread", filter.threads, "Only these threads of each rank", "LIST");
  verb.repeated("--result", filter.results, "Only calls that returned this, as in MPI_ERR_TRUNCATE", "NAME");
  verb.flag("--errors", filter.errors, "Only calls that failed or did not return");
}

std::vector<std::string> call_filters() {
  return {"--function", "--site", "--peer", "--tag", "--comm", "--thread", "--result", "--errors"};
}

void add_filters(Options &verb, Inspection &inspection, const std::string &limit) {
  add_call_filters(verb, inspection);
  verb.number("--from", inspection.filter.from, "Begin with call N of each rank", "N");
  verb.text("--step", inspection.filter.steps,
            "Only these steps of each rank, from 0 on, as in 17,20-22: turns of its main loop", "LIST");
  verb.text("--step-at", inspection.filter.step_at,
            "With --step: each begins with a call made there, a site or function", "WHERE");
  verb.text("--time", inspection.filter.time, "Only calls that overlap START+LENGTH, as in 1s+20ms (lossless timing)",
            "START+LENGTH");
  verb.number("--limit", inspection.filter.limit, limit, "N");
}

Result<trace::Trace> open_trace(Inspection &inspection, Open which) {
  if (inspection.file.empty()) {
    auto newest = newest_trace();
    if (!newest) return tl::unexpected(newest.error());
    inspection.file = *newest;
    inspection.found = true;
  }
  if (inspection.file == "-") {
    inspection.file = "standard input";
    auto bytes = read_all(STDIN_FILENO);
    if (!bytes) return tl::unexpected(bytes.error());
    if (bytes->empty()) return fail(ErrorKind::unreadable, "standard input: it is empty", "give it a trace");
    return trace::Trace::from_bytes(*std::move(bytes), inspection.file);
  }
  if (auto may = analyze::may_be_trace(inspection.file); !may) return tl::unexpected(may.error());
  if (which == Open::all || inspection.filter.ranks.empty()) return trace::Trace::open(inspection.file);
  return open_for_ranks(inspection);
}

void say_exactness(const trace::Trace &trace, Shown shown) {
  if (timing::keeps_nothing(trace.run().timing)) say("no times of calls: this trace was recorded with --timing off");
  const std::string within = trace::exactness(trace);
  if (within.empty()) return;
  const bool single = timing::keeps_times(trace.run().timing);
  if (single && shown == Shown::begins_too) {
    say(fmt::format("gaps and durations are {} of what they were, and begins off by {} at most", within,
                    time_text(trace::times_size(trace).clock_error_ns)));
    return;
  }
  say(fmt::format("{} {} of what they were", single ? "gaps and durations are" : "statistics are of times", within));
}

int finish_sums(Output *out, const analyze::DamagedTimes &damaged, const std::string &file) {
  const int code = out->finish();
  if (!damaged.first) return code;
  say(fmt::format("no sum has the times of {}, which are damaged", plural(damaged.calls, "call")));
  return report(*damaged.first, file);
}

std::string failures_text(const analyze::Failures &failures) {
  std::vector<std::pair<std::string, uint64_t>> sorted(failures.begin(), failures.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
  std::string text;
  for (const auto &[name, calls] : sorted)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, grouped(calls));
  return text;
}

bool has_threads(const trace::Trace &trace) {
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    if (trace.class_view(index).thread != 0) return true;
  }
  return false;
}

bool was_cut_short(const trace::Trace &trace) {
  const std::vector<uint32_t> ranks = trace.ranks();
  return std::any_of(ranks.begin(), ranks.end(), [&](uint32_t rank) { return !trace.rank_info(rank).complete; });
}

void say_missing_calls(const trace::Trace &trace, const std::vector<uint32_t> &ranks) {
  const std::vector<uint32_t> lossy = missing_calls(trace, ranks);
  if (!lossy.empty()) say(fmt::format("calls of {} are not all in the trace, as cairn info tells", named_ranks(lossy)));
}

void add_missing_calls(const trace::Trace &trace, const std::vector<uint32_t> &ranks, nlohmann::ordered_json *json) {
  const std::vector<uint32_t> lossy = missing_calls(trace, ranks);
  if (!lossy.empty()) (*json)["ranks_missing_calls"] = lossy;
}

std::string loss_text(const std::string &reason, const analyze::Overview::Degraded &degraded) {
  // "1,600 calls were left out on request: …", of which each is told as "a call was …".
  constexpr std::string_view kACallWas = "a call was ";
  if (degraded.asked && degraded.count > 1 && reason.starts_with(kACallWas)) {
    return fmt::format("{}: {} calls were {}", named_ranks(degraded.ranks), grouped(degraded.count),
                       reason.substr(kACallWas.size()));
  }
  const std::string count = degraded.count == 0 ? "" : fmt::format(" ({})", plural(degraded.count, "time"));
  return fmt::format("{}: {}{}", named_ranks(degraded.ranks), reason, count);
}

}  // namespace cairn::cli
