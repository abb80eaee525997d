// cairn dump: every call with every argument, in order, as text or as one JSON object a line; or the grammars.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "analyze/communicators.h"
#include "analyze/decode.h"
#include "analyze/grammar_text.h"
#include "analyze/selected_calls.h"
#include "analyze/volume.h"
#include "analyze/wanted_calls.h"
#include "analyze/world_ranks.h"
#include "cli/dump_between.h"
#include "cli/dump_calls.h"
#include "cli/dump_gpu.h"
#include "cli/inspect.h"
#include "cli/launch_lines.h"
#include "cli/verbs.h"
#include "gpu/analyze/points.h"
#include "objects/object_notes.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"
#include "timing/setting.h"
#include "trace/read/events.h"
#include "trace/read/exactness.h"

namespace cairn::cli {
namespace {

using trace::Event;

struct DumpOptions : Inspection {
  bool grammar = false;
  std::string order = "rank";
  bool stack = false;
  bool world = false;
  bool objects = false;
  bool memory = false;
  bool threads = false;
  bool no_launches = false;
  GpuDump gpu;
};

/// How many calls are printed of those that took longest, unless --limit says so.
constexpr size_t kLongest = 20;

class Dump {
 public:
  Dump(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
       const analyze::Communicators *world, const gpu::Launches &launches, const DumpOptions &options, Output &out)
      : trace_(trace),
        sources_(sources),
        decoder_(trace, sources),
        filter_(filter),
        world_(world),
        wanted_(trace, sources, filter),
        chooses_(analyze::RankCalls::chooses(filter)),
        json_(options.json),
        exact_(timing::exactness(trace.run().timing).empty()),
        stack_(options.stack),
        objects_(options.objects),
        layouts_(trace),
        between_{options.memory, options.threads},
        launches_(launches),
        timed_(analyze::launches_in_order(trace, launches)),
        by_time_(options.order == "time"),
        across_ranks_(options.order != "rank"),
        out_(out) {
    if (json_) selected_.emplace(trace, analyze::Volumes::needs);
  }

  Result<void> rank(uint32_t rank) {
    const std::unique_ptr<DumpedRank> of = calls_of(rank);
    LinesBetween lines(trace_, rank, between_, of->calls.has_several_threads(), json_);
    LaunchLines launches(launches_, analyze::launches_of(rank, timed_), of->calls.has_several_threads(), json_);
    if (has_between()) {
      of->before_each = [&](const Event &event) {
        std::string between = lines.before(event);
        launches.before(event, &between);
        write_between(between);
      };
    }
    const auto steps = of->calls.step_count();
    if (!json_) head_ = head_of(rank, steps ? fmt::format(", {}", plural(*steps, "step")) : "");
    if (!chooses_) write_head();
    while (!full() && of->advance() != nullptr) {
      write_head();
      print(*of);
    }
    if (has_between() && of->calls.is_at_end()) {
      std::string behind = lines.rest();
      launches.rest(&behind);
      write_between(behind);
    }
    return of->calls.end();
  }

  /// The calls that took longest.
  Result<void> by_duration() {
    const size_t most = filter_.limit.value_or(kLongest);
    struct Found {
      uint64_t duration_ns;
      uint32_t rank;
      uint64_t index;
      std::string line;
      bool operator<(const Found &other) const {  // the last of them is the shortest
        if (duration_ns != other.duration_ns) return duration_ns > other.duration_ns;
        return std::tie(rank, index) < std::tie(other.rank, other.index);
      }
    };
    std::set<Found> found;
    Result<void> end;
    for (const uint32_t rank : filter_.ranks) {
      const std::unique_ptr<DumpedRank> of = calls_of(rank);
      while (const Event *event = of->advance()) {
        if (!event->timed) continue;
        Found next{took_ns(trace_, *event), rank, event->index, {}};
        if (found.size() >= most && (found.empty() || *found.rbegin() < next)) continue;
        next.line = line_of(*of);
        found.insert(std::move(next));
        if (found.size() > most) found.erase(std::prev(found.end()));
      }
      if (end) end = of->calls.end();
    }
    printed_ = found.size();
    for (const Found &each : found) out_.write(each.line);
    return end;
  }

  /// The calls of all ranks in the order of their begins.
  Result<void> by_time() {
    std::vector<std::unique_ptr<DumpedRank>> ranks;
    const auto later = [&](size_t a, size_t b) {
      const uint64_t left = ranks[a]->next->begin_ns;
      const uint64_t right = ranks[b]->next->begin_ns;
      return left != right ? left > right : a > b;
    };
    std::vector<size_t> heap;
    for (const uint32_t rank : filter_.ranks) {
      ranks.push_back(calls_of(rank));
      if (ranks.back()->advance() != nullptr) heap.push_back(ranks.size() - 1);
    }
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty() && !full()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      DumpedRank &rank = *ranks[heap.back()];
      print(rank);
      if (rank.advance() == nullptr) {
        heap.pop_back();
      } else {
        std::push_heap(heap.begin(), heap.end(), later);
      }
    }
    for (const auto &rank : ranks) {
      if (!rank->calls.end()) return rank->calls.end();
    }
    return {};
  }

  [[nodiscard]] bool found_nothing() const { return chooses_ && printed_ == 0 && !full(); }
  /// Which steps there are, where some were asked for.
  [[nodiscard]] std::string step_note() const {
    if (!filter_.steps.chooses() || least_steps_ > most_steps_) return {};
    if (most_steps_ == 0 && filter_.step_at.empty()) {
      return "; no main loop was found; --step-at WHERE says with which call each step begins, and --from N goes to "
             "any "
             "call";
    }
    std::string text = fmt::format("; there are {}", plural(most_steps_, "step"));
    if (least_steps_ != most_steps_) text += fmt::format(" at most and {} at least", grouped(least_steps_));
    text += most_steps_ == 0 ? "" : ", counted from 0";
    return text + (filter_.step_at.empty() ? "; --step-at WHERE says with which call each begins" : "");
  }
  [[nodiscard]] bool full() const { return filter_.limit && printed_ >= *filter_.limit; }

 private:
  [[nodiscard]] std::string head_of(uint32_t rank, const std::string &steps) const {
    const auto info = trace_.rank_info(rank);
    return fmt::format("{}# rank {} of {}{}{}{}\n", out_.dim(), rank, trace_.rank_count(),
                       info.host.empty() ? "" : " on " + info.host, steps, out_.plain());
  }

  /// Of the rank at hand, before its first line.
  void write_head() {
    if (!head_.empty()) out_.write(head_);
    head_.clear();
  }

  [[nodiscard]] bool has_between() const {
    return between_.segments || between_.threads || !launches_.launches.empty();
  }
  void write_between(const std::string &lines) {
    if (lines.empty()) return;
    write_head();
    out_.write(lines);
  }

  void print(DumpedRank &rank) {
    ++printed_;
    out_.write(line_of(rank));
  }

  /// Of the rank's next call.
  const std::string &line_of(DumpedRank &rank) {
    const Event &event = *rank.next;
    line_.clear();
    const auto to = std::back_inserter(line_);
    if (json_) {
      fmt::format_to(to, "{{\"rank\":{},\"thread\":{},\"index\":{},", event.rank, event.thread, event.index);
      if (const auto step = rank.calls.step()) fmt::format_to(to, "\"step\":{},", *step);
      if (event.segment == trace::SequenceRecord::kEpilogue) line_ += "\"after_finalize\":true,";
      if (event.timed) {
        fmt::format_to(to, "\"begin_ns\":{},\"duration_ns\":{},\"gap_ns\":{},", event.begin_ns, took_ns(trace_, event),
                       event.gap_ns);
      }
    } else {
      if (across_ranks_) fmt::format_to(to, "r{:<5} ", event.rank);
      if (!by_time_) fmt::format_to(to, "{:>6}  ", event.index);
      if (rank.calls.has_several_threads()) fmt::format_to(to, "t{}  ", event.thread);
      if (event.timed) {
        fmt::format_to(to, "{:>13.9f} {}{:.9f}  ", static_cast<double>(event.begin_ns) * 1e-9, exact_ ? '+' : '~',
                       static_cast<double>(took_ns(trace_, event)) * 1e-9);
      }
      line_.append(2 * size_t{event.values->depth}, ' ');
    }
    line_ += rank.texts.text(event, rank.calls.names());
    line_ += '\n';
    return line_;
  }

  [[nodiscard]] std::unique_ptr<DumpedRank> calls_of(uint32_t rank) {
    constexpr size_t kMost = size_t{1} << 18;  // some 100 MB
    constexpr size_t kLeast = 256;
    const size_t at_once = by_time_ ? std::max<size_t>(1, filter_.ranks.size()) : 1;
    analyze::CallTexts texts(decoder_,
                             selected_ ? std::make_unique<analyze::RankVolumes>(trace_, *selected_, rank) : nullptr,
                             world_ != nullptr ? std::optional<analyze::WorldRanks>({*world_, rank}) : std::nullopt,
                             stack_, std::max(kLeast, kMost / at_once));
    if (objects_) texts.add_notes(std::make_unique<objects::ObjectNotes>(trace_, &layouts_, json_));
    auto of = std::make_unique<DumpedRank>(std::move(texts), trace_, sources_, filter_, wanted_, rank, has_between());
    if (const auto steps = of->calls.step_count()) {
      least_steps_ = std::min(least_steps_, *steps);
      most_steps_ = std::max(most_steps_, *steps);
    }
    return of;
  }

  const trace::Trace &trace_;
  const analyze::Sources &sources_;
  analyze::Decoder decoder_;
  std::optional<analyze::SelectedCalls> selected_;
  const analyze::Filter &filter_;
  const analyze::Communicators *world_;  ///< to translate ranks with; nullptr: they stay as they are
  analyze::WantedCalls wanted_;
  bool chooses_;  ///< not all calls of the ranks looked at are printed
  bool json_;
  bool exact_;  ///< durations are
  bool stack_;
  bool objects_;
  objects::TypeLayouts layouts_;
  LinesBetween::Wanted between_;             ///< what is told besides calls
  const gpu::Launches &launches_;            ///< likewise; none are unless all calls of a rank are printed
  std::vector<analyze::TimedLaunch> timed_;  ///< these, rank by rank
  bool by_time_;
  bool across_ranks_;  ///< lines of several ranks stand among each other
  Output &out_;
  uint64_t printed_ = 0;
  uint64_t least_steps_ = UINT64_MAX;  ///< of the ranks looked at
  uint64_t most_steps_ = 0;
  std::string head_;
  std::string line_;
};

/// Those that are told between calls: with calls left out they would not stand between those printed.
Result<gpu::Launches> launches_between(const trace::Trace &trace, const analyze::Filter &filter,
                                       const DumpOptions &options) {
  if (options.no_launches || options.order != "rank" || analyze::RankCalls::chooses(filter)) return gpu::Launches();
  return analyze::gpu_launches(trace);
}

int dump(DumpOptions &options) {
  // Grammars have numbers; a communicator has ranks that are not wanted.
  const auto trace = open_trace(options, options.grammar || options.world ? Open::all : Open::wanted_ranks);
  if (!trace) return report(trace.error());
  // What is printed has no place for it.
  if (options.found) say(fmt::format("{}, the newest trace in this folder", options.file));
  if (options.gpu.wanted()) return dump_gpu(*trace, options, options.gpu);
  if (options.order != "rank" && !timing::keeps_times(trace->run().timing)) {
    return report(Error{ErrorKind::usage,
                        fmt::format("--order {}: this trace has no times of single calls", options.order), options.file,
                        Error::kNoOffset, "record with --timing context"});
  }
  if ((options.memory || options.threads) && options.order != "rank") {
    return report(Error{ErrorKind::usage,
                        fmt::format("--{} prints what stands between a rank's calls, not with --order {}",
                                    options.memory ? "memory" : "threads", options.order),
                        {},
                        Error::kNoOffset,
                        {}});
  }
  if (!options.filter.step_at.empty() && options.filter.steps.empty()) {
    return report(Error{ErrorKind::usage,
                        "--step-at says where steps begin, not which",
                        {},
                        Error::kNoOffset,
                        "give --step as well, as in --step 17 --step-at main.c:42"});
  }
  const analyze::Sources sources(*trace);
  const auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  for (const std::string &warning : sources.warnings()) say(warning);
  Output out;
  if (options.grammar) {
    out.write(analyze::grammar_text(*trace, sources, *filter));
    return out.finish();
  }
  if (const timing::Mode *mode = timing::mode_named(trace->run().timing); mode != nullptr && mode->statistics) {
    say("no times: this trace has statistics only (cairn summary shows them); record with --timing context for each "
        "call's time");
  }
  say_exactness(*trace, Shown::begins_too);
  if (options.stack && !analyze::has_call_stacks(*trace)) {
    say("--stack: this trace has no call stacks; record with --callsites stack");
  }
  if (options.json) {
    nlohmann::ordered_json header;
    header["schema"] = "cairn.dump/3";
    header["timing"] = valid_utf8(trace->run().timing);
    if (!trace::exactness(*trace).empty() && timing::keeps_times(trace->run().timing)) {
      header["begins_off_ns"] = trace::times_size(*trace).clock_error_ns;
    }
    header["ranks"] = filter->ranks;
    if (options.world) header["ranks_in"] = "MPI_COMM_WORLD";
    out.write(header.dump() + "\n");
  }
  std::optional<analyze::Communicators> world;
  if (options.world) {
    auto communicators = analyze::Communicators::of(*trace, sources);
    if (!communicators) return report(communicators.error(), options.file);
    world = std::move(*communicators);
  }
  const auto launches = launches_between(*trace, *filter, options);
  if (!launches) return report(launches.error(), options.file);
  Dump dump(*trace, sources, *filter, world ? &*world : nullptr, *launches, options, out);
  if (options.order != "rank") {
    if (const auto done = options.order == "time" ? dump.by_time() : dump.by_duration(); !done) {
      out.finish();
      return report(done.error(), options.file);
    }
  }
  Result<void> done;  // damage to times, which are few of what a call has, keeps no calls back
  for (const uint32_t rank : filter->ranks) {
    if (dump.full() || options.order != "rank") break;
    const auto end = dump.rank(rank);
    if (done) done = end;
  }
  if (!done) {
    out.finish();
    return report(done.error(), options.file);
  }
  if (dump.found_nothing()) say("no call matches" + dump.step_note());
  return out.finish();
}

}  // namespace

Action declare_dump(Options &verb) {
  auto options = std::make_shared<DumpOptions>();
  add_file(verb, *options);
  verb.flag("--jsonl,--json", options->json, "One JSON object a line, after one that names the schema");
  verb.flag("--grammar", options->grammar, "Print the rules and rows of each class instead");
  verb.choice("--order", options->order, {"rank", "time", "duration"},
              "Each rank's calls one after the other, those of all ranks by time, or the longest first", "WHAT");
  verb.flag("--stack", options->stack, "Print who called, where record --callsites stack was asked for");
  verb.flag("--world", options->world, "Print the ranks in arguments as ranks in MPI_COMM_WORLD");
  verb.flag("--objects", options->objects,
            "Print the number of the call that made each object behind its handle, and what datatypes span");
  verb.flag("--memory", options->memory, "Print when the heap segments of buffers begin and end, with their sizes");
  verb.flag("--threads", options->threads, "Print where threads are made, begin, end, and are joined");
  verb.flag("--no-launches", options->no_launches, "Print no GPU launches between the calls");
  verb.apart("--grammar", "--memory", "--grammar prints rows, which have no order");
  verb.apart("--grammar", "--threads", "--grammar prints rows, which have no order");
  verb.apart("--grammar", "--objects", "--grammar prints rows, which many calls share");
  verb.apart("--grammar", "--world", "--grammar prints rows, which many ranks share");
  verb.apart("--grammar", "--json", "--grammar is text, without JSON");
  verb.apart("--grammar", "--order", "--grammar prints rows, which have no times");
  verb.apart("--grammar", "--stack", "--grammar prints rows, without call stacks");
  verb.number("--warp", options->gpu.warp, "The events of this GPU warp instead", "N");
  verb.number("--launch", options->gpu.launch, "The events of the warps of this GPU launch instead", "N");
  verb.flag("--join", options->gpu.join, "Of GPU warps: join what parts of a warp recorded at one point");
  verb.flag("--raw5", options->gpu.raw5, "Of GPU warps: five bytes an event, as ECL-Tracer wrote them");
  add_filters(verb, *options, "At most N calls; with --grammar, N classes");
  std::vector<std::string> of_calls = call_filters();
  of_calls.insert(of_calls.end(), {"--time", "--from", "--step", "--step-at"});
  for (const std::string &filter : of_calls) {
    verb.apart("--grammar", filter, "--grammar prints whole rules, of all calls and times");
  }
  of_calls.insert(of_calls.end(), {"--rank", "--objects", "--memory", "--threads"});
  for (const std::string &filter : of_calls) {
    for (const char *gpu : {"--warp", "--launch", "--join", "--raw5"}) {
      verb.apart(gpu, filter, fmt::format("{} prints events of GPU warps, which are no calls", gpu));
    }
  }
  return [options] { return dump(*options); };
}

}  // namespace cairn::cli
