// cairn export: MPI calls as actions for SimGrid (simgrid.h); GPU warps as a timeline for Perfetto, in the JSON form
// that Chrome's tracing made common ("Trace Event Format"). A launch is a process there, a warp a thread; a microsecond
// is an event of the warp.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "cli/inspect.h"
#include "cli/kernels.h"
#include "cli/simgrid.h"
#include "cli/verbs.h"
#include "gpu/analyze/points.h"
#include "gpu/analyze/timeline.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;

/// More makes files that no viewer opens.
constexpr uint64_t kMostEvents = 5'000'000;

struct ExportOptions : Inspection {
  std::string to = "perfetto";
  std::string launches;
  std::string warps;
  bool no_points = false;
  std::string folder;
  std::optional<double> speed;
  bool no_gaps = false;
};

/// One object a line, with commas between.
class Events {
 public:
  explicit Events(Output &out) : out_(out) {}
  void add(const ordered_json &event) {
    out_.write((first_ ? "\n" : ",\n") + event.dump());
    first_ = false;
  }

 private:
  Output &out_;
  bool first_ = true;
};

class WarpTrack : public analyze::TimelineVisitor {
 public:
  WarpTrack(Events &events, const gpu::ProgramRecord &program, uint32_t launch, uint32_t warp, unsigned lanes,
            bool points)
      : events_(events), program_(program), pid_(launch + 1), tid_(warp + 1), lanes_(lanes), points_(points) {}

  void function_begins(uint64_t at, const std::string &function) override {
    ordered_json event = head("B", at);
    event["name"] = valid_utf8(function);
    event["cat"] = "function";
    events_.add(event);
  }
  void loop_begins(uint64_t at, uint16_t point) override {
    ordered_json event = head("B", at);
    event["name"] = "loop " + place(point);
    event["cat"] = "loop";
    events_.add(event);
  }
  void slice_ends(uint64_t at, uint64_t iterations) override {
    ordered_json event = head("E", at);
    if (iterations != 0) event["args"] = {{"iterations", iterations}};
    events_.add(event);
  }
  void point(uint64_t at, const gpu::Event &event) override {
    const auto here = static_cast<unsigned>(std::popcount(event.mask));
    if (here != shown_) {
      ordered_json counter = head("C", at);
      counter.erase("tid");
      counter["name"] = fmt::format("lanes of warp {}", tid_ - 1);
      counter["args"] = {{"lanes", here}};
      events_.add(counter);
      shown_ = here;
    }
    if (!points_) return;
    const gpu::LocationRecord *location = program_.find(event.location);
    ordered_json slice = head("X", at);
    slice["dur"] = 1;
    slice["name"] =
        location == nullptr ? fmt::format("location {}", event.location) : std::string(name_of(location->kind));
    slice["cat"] = "point";
    slice["args"] = {{"at", place(event.location)}, {"lanes", here}, {"mask", mask_text(event.mask, lanes_)}};
    events_.add(slice);
  }

 private:
  [[nodiscard]] ordered_json head(const char *phase, uint64_t at) const {
    return {{"ph", phase}, {"pid", pid_}, {"tid", tid_}, {"ts", at}};
  }
  [[nodiscard]] std::string place(uint16_t point) const {
    const gpu::LocationRecord *location = program_.find(point);
    if (location == nullptr) return fmt::format("location {}", point);
    return fmt::format("{}:{}", valid_utf8(location->file), location->line);
  }

  Events &events_;
  const gpu::ProgramRecord &program_;
  const uint64_t pid_;
  const uint64_t tid_;
  const unsigned lanes_;
  const bool points_;
  unsigned shown_ = UINT32_MAX;
};

bool chosen(const std::vector<uint32_t> &wanted, uint32_t number) {
  return wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), number);
}

class Timelines {
 public:
  Timelines(Output &out, const ExportOptions &options, const gpu::Launches &launches)
      : events_(out), options_(options), launches_(launches) {}

  Result<void> launch(uint32_t number, const std::vector<uint32_t> &wanted_warps) {
    const gpu::LaunchRecord &launch = launches_.launches[number];
    const gpu::ProgramRecord &program = launches_.programs[launch.program];
    const analyze::GpuLoops loops(program);
    name("process_name", number, {}, process_name(number));
    for (const gpu::WarpStreams &warp : launch.warps) {
      if (!chosen(wanted_warps, warp.index)) continue;
      const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
      const uint64_t warps_per_block = (threads + launch.lanes - 1) / launch.lanes;
      name("thread_name", number, warp.index,
           fmt::format("warp {} (block {}{})", warp.index, warp.index / warps_per_block,
                       warp.lost == 0 ? "" : ", " + plural(warp.lost, "event") + " not kept"));
      WarpTrack track(events_, program, number, warp.index, launch.lanes, !options_.no_points);
      analyze::GpuTimeline timeline(program, loops, &track);
      // A ring has lost the beginning.
      uint64_t at = launch.ring ? warp.lost : 0;
      const uint64_t end =
          options_.filter.limit && *options_.filter.limit < UINT64_MAX - at ? at + *options_.filter.limit : UINT64_MAX;
      auto done = launches_.visit(launch, warp, [&](const gpu::Event &event) {
        if (at < end) timeline.event(at++, event);
      });
      timeline.end(at);
      if (!done) return done;
    }
    return {};
  }

 private:
  void name(const char *what, uint32_t launch, std::optional<uint32_t> warp, const std::string &text) {
    ordered_json event{{"ph", "M"}, {"pid", uint64_t{launch} + 1}};
    if (warp) event["tid"] = uint64_t{*warp} + 1;
    event["name"] = what;
    event["args"] = {{"name", text}};
    events_.add(event);
  }
  [[nodiscard]] std::string process_name(uint32_t number) const {
    const gpu::LaunchRecord &launch = launches_.launches[number];
    const auto &g = launch.grid;
    const auto &b = launch.block;
    return fmt::format(
        "launch {} {}, grid {}x{}x{}, block {}x{}x{}, rank {}, device {}, stream {}; no times: 1 us is 1 event of a "
        "warp",
        number, valid_utf8(launches_.programs[launch.program].kernel(launch.kernel)), g[0], g[1], g[2], b[0], b[1],
        b[2], launch.rank, launch.device, launch.stream);
  }

  Events events_;
  const ExportOptions &options_;
  const gpu::Launches &launches_;
};

int write_timeline(const ExportOptions &options, const gpu::Launches &launches, const std::vector<uint32_t> &numbers,
                   const std::vector<uint32_t> &warps) {
  uint64_t tracks = 0;
  uint64_t events = 0;
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    if (!chosen(numbers, number)) continue;
    for (const gpu::WarpStreams &warp : launches.launches[number].warps) {
      if (!chosen(warps, warp.index)) continue;
      ++tracks;
      uint64_t kept = 0;
      for (const uint32_t stream : warp.streams) kept += launches.streams[stream].events;
      events += std::min(kept, options.filter.limit.value_or(UINT64_MAX));
    }
  }
  if (tracks == 0) {
    return refuse("no such warp was traced", "cairn gpu divergence names some", options.file);
  }
  if (events > kMostEvents) {
    return refuse(
        fmt::format("these are {} of {}, more than viewers show", plural(events, "event"), plural(tracks, "warp")),
        "choose some with --launch, --warp and --limit", options.file);
  }
  Output out;
  out.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  Timelines timelines(out, options, launches);
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    if (!chosen(numbers, number)) continue;
    if (const auto done = timelines.launch(number, warps); !done) {
      out.finish();
      return report(done.error(), options.file);
    }
  }
  out.write("\n]}\n");
  return out.finish();
}

int export_simgrid(const ExportOptions &options, const trace::Trace &trace) {
  const double speed = options.speed.value_or(1e9);
  if (!(speed > 0 && speed < 1e18)) {
    return refuse("a host's speed is a number of flops a second above 0", "write it as in --speed 1e9");
  }
  return write_simgrid(trace, options.file, options.folder, {speed, !options.no_gaps});
}

int export_trace(ExportOptions &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  if (options.to == "simgrid") return export_simgrid(options, *trace);
  const auto launches = kernels_of(*trace, options.file, ", and only those are exported");
  if (!launches) return report(launches.error());
  std::vector<uint32_t> numbers;
  std::vector<uint32_t> warps;
  for (const auto &[text, list] : {std::pair(&options.launches, &numbers), std::pair(&options.warps, &warps)}) {
    if (text->empty()) continue;
    auto read = analyze::parse_ranks(*text);
    if (!read) return refuse(fmt::format("'{}' is no list of numbers", *text), "write it as in 0-7,12");
    *list = *std::move(read);
  }
  if (!numbers.empty() && numbers.back() >= launches->launches.size()) {
    return refuse(fmt::format("there is no launch {}", numbers.back()),
                  fmt::format("choose one of 0 to {}", launches->launches.size() - 1), options.file);
  }
  return write_timeline(options, *launches, numbers, warps);
}

}  // namespace

Action declare_export(Options &verb) {
  auto options = std::make_shared<ExportOptions>();
  add_file(verb, *options);
  verb.choice("--to", options->to, {"perfetto", "simgrid"},
              "The form: perfetto, for ui.perfetto.dev, which is meant if left out; simgrid, for smpirun -replay",
              "FORM");
  verb.text("--launch", options->launches, "Only these launches, as in 0-7,12", "LIST");
  verb.text("--warp", options->warps, "Only these warps of their grids, as in 0-7,12", "LIST");
  verb.number("--limit", options->filter.limit, "At most N events of each warp", "N");
  verb.flag("--no-points", options->no_points, "Functions, loops and lanes only, without each single event");
  verb.text("-o,--output", options->folder, "Where the files for simgrid go: a folder that is made", "DIR");
  verb.real("--speed", options->speed, "For simgrid: the speed of the hosts that were recorded (default: 1e9)",
            "FLOPS");
  verb.flag("--no-gaps", options->no_gaps, "For simgrid: nothing between calls takes time");
  return [options] { return export_trace(*options); };
}

}  // namespace cairn::cli
