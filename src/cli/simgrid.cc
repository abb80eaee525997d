#include "cli/simgrid.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "analyze/sources.h"
#include "cli/inspect.h"
#include "simgrid/left_out.h"
#include "terminal/child.h"
#include "terminal/executable.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "timing/mode.h"

namespace cairn::cli {
namespace {

void say_before(const trace::Trace &trace, const simgrid::ExportSettings &settings) {
  if (has_threads(trace)) {
    say("ranks call MPI from several threads, and a rank is one list of actions: a deadlock may be of that alone");
  }
  if (was_cut_short(trace)) {
    say("the run was cut short: SimGrid refuses it where somebody sends to a rank that has no more actions");
  }
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
  for (const auto &[how, count] : counts.inexact) say(fmt::format("{}: {}", how, grouped(count)));
  for (const auto &[why, count] : counts.left_out) say(fmt::format("left out: {}: {}", why, grouped(count)));
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

namespace fs = std::filesystem;

/// A host for each rank, all joined by one switch: of 1 Gflop/s, as the actions have it, so that what was computed
/// takes as long as it did. "cluster" is 10 Gbit/s and 2 us a link; "ideal" a network that takes no time.
std::string platform_text(const std::string &kind, uint32_t ranks) {
  const char *links = kind == kIdeal ? R"(bw="1e18Bps" lat="0s")" : R"(bw="1.25GBps" lat="2us")";
  return fmt::format(R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-{}" speed="1Gf" {}/>
</platform>
)",
                     ranks - 1, links);
}

/// SMPI has the files of all ranks open.
bool may_open(uint64_t files) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files) return true;
  if (limit.rlim_max < files) return false;
  limit.rlim_cur = files;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/// What smpirun said.
struct Verdict {
  std::optional<double> seconds;
  std::string fault;
  std::string waiting;  ///< how many ranks wait for what does not come
};

Verdict verdict_of(const std::string &path) {
  Verdict verdict;
  std::ifstream in(path);
  std::string line;
  const auto behind = [&](const char *word) -> std::optional<std::string> {
    const size_t at = line.find(word);
    return at == line.npos ? std::nullopt : std::optional(line.substr(at + std::string_view(word).size()));
  };
  while (std::getline(in, line)) {
    if (const auto time = behind("Simulation time ")) verdict.seconds = std::strtod(time->c_str(), nullptr);
    if (const auto critical = behind("/CRITICAL] "); critical && verdict.fault.empty()) verdict.fault = *critical;
    if (verdict.fault.empty()) {
      if (const auto what = behind("what():")) verdict.fault = *what;
    }
    if (const auto waits = behind("[ker_engine/INFO] "); waits && waits->find("still running") != waits->npos) {
      verdict.waiting = *waits;
    }
  }
  return verdict;
}

/// A folder that is deleted with all in it.
class Scratch {
 public:
  Scratch(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!keep_) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string &path() const { return path_; }

 private:
  std::string path_;
  bool keep_;
};

int no_tool(const std::string &what, const std::string &hint) {
  return report({ErrorKind::environment, what, {}, Error::kNoOffset, hint});
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

int simulate(const trace::Trace &trace, const std::string &file, const Simulation &simulation) {
  const uint32_t ranks = trace.rank_count();
  if (!can_run("smpirun")) {
    return no_tool("there is no smpirun: SimGrid simulates, and is not installed",
                   "install it (Debian: libsimgrid-dev), or write the actions with cairn export --to simgrid");
  }
  const bool ours = simulation.platform == kCluster || simulation.platform == kIdeal;
  std::error_code error;
  if (!ours && !fs::is_regular_file(simulation.platform, error)) {
    return refuse(fmt::format("there is no platform file {}", simulation.platform),
                  fmt::format("write one as docs/simgrid.md says, or name {} or {}", kCluster, kIdeal));
  }
  if (!may_open(uint64_t{ranks} + 64)) {
    return no_tool(fmt::format("{} files cannot be open at the same time", ranks + 64), "raise ulimit -n");
  }
  std::string made = fs::absolute(simulation.scratch, error).lexically_normal().string() + "/cairn-simulate-XXXXXX";
  if (mkdtemp(made.data()) == nullptr) {
    return no_tool(fmt::format("no folder can be made in {}", simulation.scratch), "name another with --scratch");
  }
  const Scratch scratch(made, simulation.keep);
  if (simulation.keep) say(fmt::format("the actions, and what smpirun says, lie in {}", made));
  const auto counts = export_to(trace, made + "/actions", {1e9, simulation.gaps}, simulation.quiet);
  if (!counts) return counts.error().path.empty() ? report(counts.error(), file) : report(counts.error());
  // smpirun is a script that takes no blank in a path: all that it is given lies in its own folder.
  const std::string platform = "platform" + (ours ? ".xml" : fs::path(simulation.platform).extension().string());
  if (ours) {
    std::ofstream(made + "/" + platform) << platform_text(simulation.platform, ranks);
  } else {
    fs::create_symlink(fs::absolute(simulation.platform, error), made + "/" + platform, error);
  }
  // One copy of the replayer for all ranks; a stack of 256 KiB each.
  const auto code = run_child({"sh", "-c", R"(cd "$1" && shift && exec "$@" > smpirun.txt 2>&1)", "sh", made, "smpirun",
                               "-no-privatize", "-np", std::to_string(ranks), "-platform", platform,
                               "--cfg=contexts/stack-size:256", "-replay", simgrid::list_in("actions")},
                              {});
  if (!code) return report(code.error());
  const Verdict verdict = verdict_of(made + "/smpirun.txt");
  Output out;
  if (*code != 0 || !verdict.seconds || !verdict.fault.empty()) {
    const std::string fault = verdict.fault.empty() ? fmt::format("smpirun ended with code {}", *code) : verdict.fault;
    out.write(fmt::format("SimGrid found a fault: {}\n", fault));
    if (!verdict.waiting.empty()) out.write(fmt::format("{}\n", verdict.waiting));
    const int done = out.finish();
    return done == kFine ? kNegative : done;
  }
  const auto text = [](double seconds) { return time_text(static_cast<uint64_t>(std::llround(seconds * 1e9))); };
  out.write(fmt::format("simulated  {:>9}  {} on {}\n", text(*verdict.seconds), plural(ranks, "rank"),
                        ours ? fmt::format("a made-up platform ({})", simulation.platform) : simulation.platform));
  if (counts->longest_ns != 0) {
    out.write(fmt::format("recorded   {:>9}  from MPI_Init to MPI_Finalize\n", time_text(counts->longest_ns)));
  }
  out.write(fmt::format("computed   {:>9}  a rank, in the mean\n", text(counts->computed_ns / 1e9 / ranks)));
  out.write(fmt::format("{}, {}, {}; SimGrid found no fault\n", plural(counts->sends, "message"),
                        bytes_text(counts->bytes),
                        plural(counts->collectives, "part in a collective call", "parts in collective calls")));
  if (counts->sends != counts->receives) {
    out.write(fmt::format("{} sent, {} received\n", grouped(counts->sends), grouped(counts->receives)));
  }
  return out.finish();
}

}  // namespace cairn::cli
