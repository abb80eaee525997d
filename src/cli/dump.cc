// cairn dump: every call with every argument, in order, as text or as one JSON object a line; or the grammars.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyze/communicators.h"
#include "analyze/decode.h"
#include "analyze/grammar_text.h"
#include "analyze/selected_calls.h"
#include "analyze/volume.h"
#include "analyze/wanted_calls.h"
#include "analyze/world_ranks.h"
#include "cli/dump_gpu.h"
#include "cli/dump_segments.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"
#include "timing/setting.h"
#include "trace/read/events.h"
#include "trace/read/exactness.h"
#include "trace/read/steps.h"

namespace cairn::cli {
namespace {

using trace::Event;

struct DumpOptions : Inspection {
  bool grammar = false;
  std::string order = "rank";
  bool stack = false;
  bool world = false;
  bool memory = false;
  GpuDump gpu;
};

/// How many bytes each call of one rank moves.
class Moved {
 public:
  Moved(const trace::Trace &trace, const analyze::SelectedCalls &selected, uint32_t rank)
      : volumes_(trace, selected.of(rank)) {
    for (const trace::SequenceView &sequence : trace.sequences(rank)) {
      scopes_.try_emplace(sequence.class_index, analyze::RowScope::of(trace, sequence));
    }
  }
  /// Adds them to the call's JSON: null where a size is not known, nothing where the call moves none.
  void tell(const Event &event, nlohmann::ordered_json *call) const {
    const auto scope = scopes_.find(event.class_index);
    if (scope == scopes_.end()) return;
    const analyze::Volume volume = volumes_.of(*event.values, scope->second);
    if (volume.moves) (*call)["bytes"] = cli::json_of(volume.bytes);
  }

 private:
  analyze::Volumes volumes_;
  std::unordered_map<uint32_t, analyze::RowScope> scopes_;
};

/// Calls of one rank as they are printed. Equal ones recur, and cost their decoding once.
class CallTexts {
 public:
  /// `moved`: for JSON; else nullptr.
  /// `world`: with ranks in MPI_COMM_WORLD; else nullopt.
  /// `most`: texts that are kept; where calls do not recur, keeping more helps nothing.
  CallTexts(const analyze::WantedCalls &wanted, const analyze::Decoder &decoder, std::unique_ptr<Moved> moved,
            std::optional<analyze::WorldRanks> world, bool stack, size_t most)
      : wanted_(wanted),
        decoder_(decoder),
        moved_(std::move(moved)),
        world_(std::move(world)),
        stack_(stack),
        most_(most) {}

  /// The rank's next call. All of them, so that it is known which communicators there are.
  void see(const Event &event) {
    names_.see(*event.values);
    if (world_) translated_ = text_of(event);
  }

  /// Of the call that was seen last; empty if it is not wanted.
  const std::string &text(const Event &event) {
    if (world_) return translated_.text;
    const uint64_t key = uint64_t{event.class_index} << 32 | event.call;
    const auto found = texts_.find(key);
    if (found != texts_.end()) {
      if (found->second.names_version == 0 || found->second.names_version == names_.version()) {
        return found->second.text;
      }
      texts_.erase(found);
    }
    if (texts_.size() >= most_) texts_.clear();
    return texts_.emplace(key, text_of(event)).first->second.text;
  }

 private:
  struct Known {
    std::string text;
    uint64_t names_version = 0;  ///< that it holds for; 0: for any
  };

  Known text_of(const Event &event) {
    const bool wanted = wanted_.wants(event.class_index, *event.values, &names_);
    if (!wanted && !world_) return {"", wanted_.by_communicators() ? names_.version() : 0};
    analyze::Call call = decoder_.decode(event.class_index, *event.values, &names_);
    if (world_) world_->translate(&call);
    if (!wanted) return {};
    Known known{"", wanted_.by_communicators() ? names_.version() : call.names_version};
    if (moved_) {
      nlohmann::ordered_json object = analyze::call_json(call, stack_);
      moved_->tell(event, &object);
      known.text = object.dump().substr(1);  // no opening brace: the event's own members stand before these
    } else {
      known.text = analyze::call_text(call);
      if (stack_) known.text += analyze::stack_text(call);
    }
    return known;
  }

  const analyze::WantedCalls &wanted_;
  const analyze::Decoder &decoder_;
  std::unique_ptr<Moved> moved_;
  std::optional<analyze::WorldRanks> world_;
  bool stack_;
  size_t most_;
  Known translated_;  ///< the call at hand, where ranks are translated: equal calls may become different ones
  analyze::CommunicatorNames names_;
  std::unordered_map<uint64_t, Known> texts_;
};

/// How many calls are printed of those that took longest, unless --limit says so.
constexpr size_t kLongest = 20;

class Dump {
 public:
  Dump(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
       const analyze::Communicators *world, const DumpOptions &options, Output &out)
      : trace_(trace),
        sources_(sources),
        decoder_(trace, sources),
        filter_(filter),
        world_(world),
        wanted_(trace, sources, filter),
        chooses_(filter.chooses_calls() || filter.window || filter.from != 0 || filter.steps.chooses()),
        json_(options.json),
        exact_(timing::exactness(trace.run().timing).empty()),
        stack_(options.stack),
        memory_(options.memory),
        by_time_(options.order == "time"),
        across_ranks_(options.order != "rank"),
        out_(out) {
    if (json_) selected_.emplace(trace, analyze::Volumes::needs);
    if (!filter.steps.taken.empty()) last_step_ = 0;
    for (const analyze::Span &span : filter.steps.taken) {
      last_step_ = std::max(last_step_, static_cast<uint64_t>(span.last));
    }
  }

  Result<void> rank(uint32_t rank) {
    several_threads_ = trace_.has_threads(rank);
    const auto steps = steps_of(rank);
    if (!json_) {
      const auto info = trace_.rank_info(rank);
      const std::string count = steps ? fmt::format(", {}", plural(steps->count(), "step")) : "";
      head_ = fmt::format("{}# rank {} of {}{}{}{}\n", out_.dim(), rank, trace_.rank_count(),
                          info.host.empty() ? "" : " on " + info.host, count, out_.plain());
      if (!chooses_) write_head();
    }
    CallTexts texts = texts_of(rank);
    trace::Events events(trace_, rank);
    std::optional<SegmentLines> segments;
    if (memory_) segments.emplace(trace_, rank, several_threads_, json_);
    while (!full()) {
      const Event *event = events.next();
      if (event == nullptr) {
        if (segments) write_segments(segments->rest());
        break;
      }
      if (segments) write_segments(segments->before(*event));
      const bool wanted = wants(*event, texts, steps.get());
      if (steps && (steps->count() == 0 || (!several_threads_ && step_ > last_step_))) break;
      if (!wanted) continue;
      write_head();
      print(*event, texts);
    }
    return events.end();
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
      several_threads_ = trace_.has_threads(rank);
      CallTexts texts = texts_of(rank);
      const auto steps = steps_of(rank);
      trace::Events events(trace_, rank);
      while (const Event *event = events.next()) {
        if (!wants(*event, texts, steps.get()) || !event->timed) continue;
        Found next{took_ns(*event), rank, event->index, {}};
        if (found.size() >= most && (found.empty() || *found.rbegin() < next)) continue;
        next.line = line_of(*event, texts);
        found.insert(std::move(next));
        if (found.size() > most) found.erase(std::prev(found.end()));
      }
      if (end) end = events.end();
    }
    printed_ = found.size();
    for (const Found &each : found) out_.write(each.line);
    return end;
  }

  /// The calls of all ranks in the order of their begins.
  Result<void> by_time() {
    struct Rank {
      trace::Events events;
      CallTexts texts;
      std::unique_ptr<trace::StepCounter> steps;
      const Event *next;
      bool several_threads;
    };
    std::vector<Rank> ranks;
    const auto later = [&](size_t a, size_t b) {
      const uint64_t left = ranks[a].next->begin_ns;
      const uint64_t right = ranks[b].next->begin_ns;
      return left != right ? left > right : a > b;
    };
    std::vector<size_t> heap;
    ranks.reserve(filter_.ranks.size());  // an Events must stay where it is
    for (const uint32_t rank : filter_.ranks) {
      ranks.push_back({trace::Events(trace_, rank), texts_of(rank), steps_of(rank), nullptr, trace_.has_threads(rank)});
      ranks.back().next = ranks.back().events.next();
      if (ranks.back().next != nullptr) heap.push_back(ranks.size() - 1);
    }
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty() && !full()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      Rank &rank = ranks[heap.back()];
      several_threads_ = rank.several_threads;
      if (wants(*rank.next, rank.texts, rank.steps.get())) print(*rank.next, rank.texts);
      rank.next = rank.events.next();
      if (rank.next == nullptr) {
        heap.pop_back();
      } else {
        std::push_heap(heap.begin(), heap.end(), later);
      }
    }
    for (const Rank &rank : ranks) {
      if (!rank.events.end()) return rank.events.end();
    }
    return {};
  }

  [[nodiscard]] bool found_nothing() const { return chooses_ && printed_ == 0 && !full(); }
  /// Which steps there are, where some were asked for.
  [[nodiscard]] std::string step_note() const {
    if (!filter_.steps.chooses() || least_steps_ > most_steps_) return {};
    std::string text = fmt::format("; there are {}", plural(most_steps_, "step"));
    if (least_steps_ != most_steps_) text += fmt::format(" at most and {} at least", grouped(least_steps_));
    text += most_steps_ == 0 ? "" : ", counted from 0";
    return text + (filter_.step_at.empty() ? "; --step-at WHERE says with which call each begins" : "");
  }
  [[nodiscard]] bool full() const { return filter_.limit && printed_ >= *filter_.limit; }

 private:
  /// Of the rank at hand, before its first line.
  void write_head() {
    if (!head_.empty()) out_.write(head_);
    head_.clear();
  }

  void write_segments(const std::string &lines) {
    if (lines.empty()) return;
    write_head();
    out_.write(lines);
  }

  /// Where clocks were corrected, on the axis: what arrived does not end before it was sent.
  [[nodiscard]] uint64_t took_ns(const Event &event) const {
    return trace_.axis().corrections() == nullptr ? event.duration_ns : event.end_ns - event.begin_ns;
  }

  [[nodiscard]] bool may_want(const Event &event) const {
    if (filter_.window && event.timed) {
      // Threads are merged by tickets, not by times: a late one does not end the search.
      if (event.begin_ns > filter_.window->end_ns || event.end_ns < filter_.window->begin_ns) {
        return false;
      }
    }
    return event.index >= filter_.from &&
           wanted_.may_want(event.class_index, event.values->function, event.values->site);
  }

  /// Whether the next call of a rank is to be printed. To be asked of each, in order.
  bool wants(const Event &event, CallTexts &texts, const trace::StepCounter *steps) {
    texts.see(event);
    if (steps != nullptr) step_ = steps->of(event);
    if (steps != nullptr && !step_) return false;
    if (!chooses_) return true;
    if (!may_want(event)) return false;
    const auto has_step = [&](const analyze::Span &span) {
      return span.has({false, false, static_cast<int64_t>(*step_)});
    };
    if (steps != nullptr && !filter_.steps.has(has_step)) return false;
    return !texts.text(event).empty();
  }

  void print(const Event &event, CallTexts &texts) {
    ++printed_;
    out_.write(line_of(event, texts));
  }

  /// nullptr: nobody asks for them.
  std::unique_ptr<trace::StepCounter> steps_of(uint32_t rank) {
    if (!filter_.steps.chooses()) return nullptr;
    trace::StepCounter::Begins begins;
    if (!filter_.step_at.empty()) {
      begins = [this](uint32_t class_index, uint32_t function, uint32_t site) {
        if (analyze::is_named(filter_.step_at, analyze::function_name(function))) return true;
        const auto names = analyze::site_names(sources_.position(class_index, site));
        return std::any_of(names.begin(), names.end(),
                           [&](const std::string &name) { return analyze::is_named(filter_.step_at, name); });
      };
    }
    auto steps = std::make_unique<trace::StepCounter>(trace_, rank, begins);
    least_steps_ = std::min(least_steps_, steps->count());
    most_steps_ = std::max(most_steps_, steps->count());
    return steps;
  }

  /// Of the call that was asked about last.
  const std::string &line_of(const Event &event, CallTexts &texts) {
    line_.clear();
    const auto to = std::back_inserter(line_);
    if (json_) {
      fmt::format_to(to, "{{\"rank\":{},\"thread\":{},\"index\":{},", event.rank, event.thread, event.index);
      if (step_) fmt::format_to(to, "\"step\":{},", *step_);
      if (event.segment == trace::SequenceRecord::kEpilogue) line_ += "\"after_finalize\":true,";
      if (event.timed) {
        fmt::format_to(to, "\"begin_ns\":{},\"duration_ns\":{},\"gap_ns\":{},", event.begin_ns, took_ns(event),
                       event.gap_ns);
      }
    } else {
      if (across_ranks_) fmt::format_to(to, "r{:<5} ", event.rank);
      if (!by_time_) fmt::format_to(to, "{:>6}  ", event.index);
      if (several_threads_) fmt::format_to(to, "t{}  ", event.thread);
      if (event.timed) {
        fmt::format_to(to, "{:>13.9f} {}{:.9f}  ", static_cast<double>(event.begin_ns) * 1e-9, exact_ ? '+' : '~',
                       static_cast<double>(took_ns(event)) * 1e-9);
      }
      line_.append(2 * size_t{event.values->depth}, ' ');
    }
    line_ += texts.text(event);
    line_ += '\n';
    return line_;
  }

  [[nodiscard]] CallTexts texts_of(uint32_t rank) const {
    constexpr size_t kMost = size_t{1} << 18;  // some 100 MB
    constexpr size_t kLeast = 256;
    const size_t at_once = by_time_ ? std::max<size_t>(1, filter_.ranks.size()) : 1;
    return {wanted_,
            decoder_,
            selected_ ? std::make_unique<Moved>(trace_, *selected_, rank) : nullptr,
            world_ != nullptr ? std::optional<analyze::WorldRanks>({*world_, rank}) : std::nullopt,
            stack_,
            std::max(kLeast, kMost / at_once)};
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
  bool memory_;  ///< heap segments are told as well
  bool by_time_;
  bool across_ranks_;  ///< lines of several ranks stand among each other
  Output &out_;
  bool several_threads_ = false;
  uint64_t printed_ = 0;
  std::optional<uint64_t> step_;       ///< of the call that was asked about last
  uint64_t least_steps_ = UINT64_MAX;  ///< of the ranks looked at
  uint64_t most_steps_ = 0;
  uint64_t last_step_ = UINT64_MAX;  ///< that is wanted
  std::string head_;
  std::string line_;
};

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
  if (options.memory && options.order != "rank") {
    return report(Error{ErrorKind::usage,
                        "--memory prints what stands between a rank's calls, not with --order " + options.order,
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
  const auto frames = trace->all_sites();
  if (options.stack && std::none_of(frames.begin(), frames.end(), [](const auto &site) { return site.caller != 0; })) {
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
  Dump dump(*trace, sources, *filter, world ? &*world : nullptr, options, out);
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
  verb.flag("--memory", options->memory, "Print when the heap segments of buffers begin and end, with their sizes");
  verb.apart("--grammar", "--memory", "--grammar prints rows, which have no order");
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
  of_calls.insert(of_calls.end(), {"--rank", "--memory"});
  for (const std::string &filter : of_calls) {
    for (const char *gpu : {"--warp", "--launch", "--join", "--raw5"}) {
      verb.apart(gpu, filter, fmt::format("{} prints events of GPU warps, which are no calls", gpu));
    }
  }
  return [options] { return dump(*options); };
}

}  // namespace cairn::cli
