// cairn replay: a launcher starts one cairn-replay for each rank of a trace, which makes the rank's calls again.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "analyze/family.h"
#include "analyze/repeatable.h"
#include "analyze/spawned.h"
#include "cli/inspect.h"
#include "cli/simgrid.h"
#include "cli/verbs.h"
#include "replay/other_jobs.h"
#include "terminal/child.h"
#include "terminal/executable.h"
#include "terminal/installation.h"
#include "terminal/launcher.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "timing/mode.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

struct ReplayOptions : Inspection {
  std::string gaps = "none";
  std::string payload = "zeros";
  std::string buffers = "own";
  std::string device_memory = "auto";
  std::string order = "recorded";
  std::string mpi;
  std::string scratch = ".";
  std::optional<double> scale;
  std::optional<uint64_t> stall;
  bool wild = false;
  bool keep = false;
  bool quiet = false;
  bool echo = false;
  std::vector<std::string> spawned;
  std::string simulate;
  bool no_gaps = false;
};

/// The MPI library whose processes a command's launcher starts, as far as its name says so; else empty.
std::string mpi_of_launcher(const std::vector<std::string> &command, const std::vector<Recorder> &recorders) {
  const std::vector<bool> places = program_places(command);
  for (size_t i = 0; i < command.size(); ++i) {
    if (!places[i] || !is_launcher(command[i])) continue;
    const auto found = in_path(command[i]);
    std::error_code error;
    const std::string path = fs::canonical(found, error).string();
    const auto has = [&](const char *word) { return path.find(word) != std::string::npos; };
    const char *begin = has("hydra") || has("mpich")                      ? "libmpich"
                        : has("orterun") || has("prte") || has("openmpi") ? "libmpi.so"
                                                                          : nullptr;
    if (begin == nullptr) return {};
    for (const Recorder &each : recorders) {
      if (each.soname.starts_with(begin)) return each.soname;
    }
    return {};
  }
  return {};
}

Result<Recorder> choose_mpi(const ReplayOptions &options, const std::string &recorded,
                            const std::vector<std::string> &command) {
  const auto library = find_library();
  if (!library) return tl::unexpected(library.error());
  const std::vector<Recorder> recorders = find_recorders(*library);
  std::string wanted = options.mpi.empty() ? mpi_of_launcher(command, recorders) : options.mpi;
  if (wanted.empty()) wanted = recorded;
  const Recorder *found = recorder_for(wanted, recorders);
  if (found != nullptr) return *found;
  std::string all;
  for (const Recorder &each : recorders) all += (all.empty() ? "" : ", ") + each.soname;
  return fail(ErrorKind::usage, fmt::format("no replay was built for the MPI library {}", wanted),
              fmt::format("name one of these with --mpi: {}", all));
}

/// "libmpich.so.12" of "cairn 0.1.0 libmpich.so.12".
std::string recorded_mpi(const trace::RunInfo &run) { return run.recorder.substr(run.recorder.rfind(' ') + 1); }

/// Gaps are waited for as the trace has them, which is told; an error if it has none.
Result<void> may_wait(const ReplayOptions &options, const trace::Trace &trace, const std::string &file) {
  const std::string &timing = trace.run().timing;
  if (options.gaps == "none" || timing::keeps_times(timing)) return {};
  if (timing::keeps_nothing(timing)) {
    return fail(ErrorKind::usage, fmt::format("{} has no times", file),
                "record it with --timing context or lossless, or replay it without --gaps");
  }
  if (options.quiet) return {};
  const timing::Mode *mode = timing::mode_named(timing);
  if (mode != nullptr && mode->gaps) {
    say("the trace has histograms, not the time of each call: gaps are drawn from those of their call sites");
  } else {
    say("the trace has statistics, not the time of each call: all gaps of a rank are as long as its mean one "
        "(--timing stats-gaps keeps how they differ)");
  }
  return {};
}

/// What is needed of a trace once its ranks are about to be started.
struct Prepared {
  std::string recorded;  ///< under which MPI library
  std::vector<replay::SpawnedJob> spawned;
  uint64_t ranks = 0;  ///< of all jobs
};

/// A port that no job of the replay opens is another program's.
Result<void> may_meet(const std::vector<analyze::FamilyMember> &family) {
  std::set<std::string> opened;
  std::map<std::string, const analyze::FamilyMember *> named;  // by whom first
  for (const analyze::FamilyMember &member : family) {
    analyze::Ports ports = analyze::ports_of(member.trace);
    opened.merge(ports.opened);
    for (const std::string &port : ports.named) named.try_emplace(port, &member);
  }
  for (const auto &[port, member] : named) {
    if (opened.contains(port)) continue;
    return fail(ErrorKind::usage,
                fmt::format("{} names the port \"{}\", which another program opened", member->file, port),
                "a run is replayed together with the jobs that it spawned, no others");
  }
  return {};
}

/// Opens the traces of all jobs, and refuses what cannot be replayed.
Result<Prepared> prepare(ReplayOptions &options) {
  auto first = open_trace(options);
  if (!first) return tl::unexpected(first.error());
  const auto may_be_repeated = [](const trace::Trace &trace, const std::string &file) {
    auto may = analyze::may_be_repeated(trace, analyze::Others::there);
    if (!may) may.error().path = file;
    return may;
  };
  if (auto may = may_be_repeated(*first, options.file); !may) return tl::unexpected(may.error());
  if (analyze::was_spawned(*first)) {
    const auto by = analyze::spawner_of(first->run());
    return tl::unexpected(Error{
        ErrorKind::usage, "the run was spawned by another job" + (by ? fmt::format(", by rank {}", by->rank) : ""),
        options.file, Error::kNoOffset, "replay the trace of that one, which replays this one, too"});
  }
  auto family = analyze::family_of(*std::move(first), options.file, options.spawned);
  if (!family) return tl::unexpected(family.error());
  Prepared prepared;
  prepared.recorded = recorded_mpi(family->front().trace.run());
  for (uint32_t job = 0; job < family->size(); ++job) {
    const analyze::FamilyMember &member = (*family)[job];
    if (job != 0) {
      if (auto may = may_be_repeated(member.trace, member.file); !may) return tl::unexpected(may.error());
      std::error_code error;
      prepared.spawned.push_back({job, member.parent, member.root, member.number, static_cast<uint32_t>(prepared.ranks),
                                  fs::absolute(member.file, error).string()});
    }
    prepared.ranks += member.trace.rank_count();
  }
  if (auto may = may_meet(*family); !may) return tl::unexpected(may.error());
  // All jobs were recorded alike.
  if (auto may = may_wait(options, family->front().trace, options.file); !may) return tl::unexpected(may.error());
  if (options.quiet) return prepared;
  if (!prepared.spawned.empty()) {
    say(fmt::format("with {} that the run spawned, {} in all", plural(prepared.spawned.size(), "job"),
                    plural(prepared.ranks, "rank")));
  }
  for (const analyze::FamilyMember &member : *family) {
    for (const auto &[what, calls] : analyze::left_out(member.trace)) {
      say(fmt::format("left out: {} of {}", plural(calls, "call"), what));
    }
    if (const uint64_t calls = analyze::uncertain_cancels(member.trace, true); calls != 0) {
      say(
          fmt::format("{} of MPI_Cancel, of persistent requests: chance decides whether they cancel what they did, and "
                      "where they don't the replay may wait for ever",
                      plural(calls, "call")));
    }
  }
  return prepared;
}

/// A folder of the replay's own, which tells its processes of the jobs that they spawn.
Result<std::string> make_scratch(const std::string &place, const std::vector<replay::SpawnedJob> &spawned) {
  std::error_code error;
  std::string scratch = fs::absolute(place, error).lexically_normal().string() + "/cairn-replay-XXXXXX";
  if (mkdtemp(scratch.data()) == nullptr) {
    return fail(ErrorKind::environment, fmt::format("no folder can be made in {}", place),
                "name another with --scratch, that all ranks see");
  }
  if (auto done = replay::write_spawned(scratch, spawned); !done) {
    fs::remove_all(scratch, error);
    return tl::unexpected(done.error());
  }
  return scratch;
}

int replay(ReplayOptions &options, const std::vector<std::string> &command) {
  if (!options.simulate.empty()) {
    if (!command.empty()) return refuse("a simulation starts no ranks", "leave out the command behind --");
    const auto trace = open_trace(options);
    if (!trace) return report(trace.error());
    return simulate(*trace, options.file,
                    {options.simulate, options.scratch, !options.no_gaps, options.keep, options.quiet});
  }
  if (command.empty()) {
    return report({ErrorKind::usage,
                   "there is no command that starts the ranks",
                   {},
                   Error::kNoOffset,
                   "write it at the end, as in cairn replay run.cairn -- mpiexec -n 4"});
  }
  if (options.file == "-") {
    return report({ErrorKind::usage, "every rank reads the trace: it must be a file", {}, Error::kNoOffset, {}});
  }
  const auto prepared = prepare(options);
  if (!prepared) return report(prepared.error());
  const auto mpi = choose_mpi(options, prepared->recorded, command);
  if (!mpi) return report(mpi.error());
  const std::string program = fs::path(mpi->path).replace_filename("cairn-replay").string();
  if (mpi->soname != prepared->recorded && !options.quiet) {
    say(fmt::format("recorded under {}, replayed under {}", prepared->recorded, mpi->soname));
  }
  const auto scratch = make_scratch(options.scratch, prepared->spawned);
  if (!scratch) return report(scratch.error());
  std::error_code error;
  std::vector<std::string> words = command;
  words.insert(
      words.end(),
      {program, fs::absolute(options.file, error).string(), *scratch, "gaps=" + options.gaps,
       fmt::format("scale={}", options.scale.value_or(1)), "payload=" + options.payload, "buffers=" + options.buffers,
       "devices=" + options.device_memory, "order=" + options.order,
       fmt::format("stall={}", options.stall.value_or(60)), std::string("wild=") + (options.wild ? "yes" : "no"),
       std::string("echo=") + (options.echo ? "yes" : "no"), std::string("quiet=") + (options.quiet ? "yes" : "no"),
       fmt::format("all={}", prepared->ranks)});
  const auto code = run_child(words, {});
  if (options.keep) {
    say(fmt::format("what the replay wrote lies in {}", *scratch));
  } else {
    fs::remove_all(*scratch, error);  // which was made here, and for the replay alone
  }
  if (!code) return report(code.error());
  if (*code == 0) return 0;
  // Launchers have codes of their own; ours are told from them by what they mean.
  return *code == 2 || *code == 3 || *code == 4 ? *code : 1;
}

}  // namespace

Action declare_replay(Options &verb) {
  auto options = std::make_shared<ReplayOptions>();
  add_file(verb, *options);
  verb.choice("--gaps", options->gaps, {"none", "spin", "sleep"},
              "What to do between calls for as long as the program computed there", "WHAT");
  verb.real("--scale", options->scale, "Times these, as in 0.5", "FACTOR");
  verb.choice("--payload", options->payload, {"zeros", "random"}, "What buffers hold", "WHAT");
  verb.choice("--buffers", options->buffers, {"own", "shared"},
              "Where buffers lie: each segment by itself, or all in one range, to save memory", "WHERE");
  verb.choice(
      "--device-memory", options->device_memory, {"auto", "device", "host"},
      "Where buffers on devices lie: there if that is possible, there or the replay fails, or in the host's memory",
      "WHERE");
  verb.choice("--order", options->order, {"recorded", "free"},
              "Which of several requests complete: those that did, or what is done first", "WHICH");
  verb.flag("--wild", options->wild, "Leave receives from anybody so, not from whom they heard");
  verb.text("--mpi", options->mpi, "The MPI library of the launcher, as libmpich.so.12", "SONAME");
  verb.repeated("--spawned", options->spawned,
                "The trace of a job that the run spawned; without it they are those beside the trace, run-2.cairn and "
                "so on",
                "FILE");
  verb.text("--scratch", options->scratch, "Where the program's files are written anew", "DIR");
  verb.flag("--keep", options->keep, "Leave these files");
  verb.number("--stall", options->stall, "Give up when no rank has made a call for so long; 0: never (default: 60)",
              "SECONDS");
  verb.flag("--echo", options->echo, "Print each call before it is made");
  verb.text(
      "--simulate", options->simulate,
      "Make no calls, but let SimGrid simulate them on this platform, cluster or ideal, and tell how long they take",
      "FILE", {kCluster, kIdeal});
  verb.flag("--no-gaps", options->no_gaps, "In a simulation nothing between calls takes time");
  verb.flag("-q,--quiet", options->quiet, "Print errors only");
  return [options, &verb] { return replay(*options, verb.command); };
}

}  // namespace cairn::cli
