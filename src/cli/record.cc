// cairn record: runs a command with the recorder in it and finishes the trace: parts joined, call sites resolved,
// renamed into place.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include "analyze/filter.h"
#include "analyze/overview.h"
#include "analyze/pending.h"
#include "cli/inspect.h"
#include "cli/lost_lines.h"
#include "cli/pending_lines.h"
#include "cli/recording.h"
#include "cli/retiming.h"
#include "cli/verbs.h"
#include "cli/waiting.h"
#include "mpi/store/arena_file.h"
#include "spool/gpu.h"
#include "spool/join.h"
#include "terminal/child.h"
#include "terminal/executable.h"
#include "terminal/installation.h"
#include "terminal/launcher.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

Error about(const std::string &path, std::string message, std::string hint) {
  return {ErrorKind::environment, std::move(message), path, Error::kNoOffset, std::move(hint)};
}

/// Everything that can be known to fail before the program runs.
Result<void> prepare(const RecordingOptions &options, Recording *recording) {
  std::error_code error;
  // Under the name that it has when none is given, an earlier trace is no obstacle: it is kept aside.
  const bool may_replace = options.force || !options.named;
  if (auto may = spool::may_write(recording->output, options.output, may_replace); !may) return may;
  const fs::path folder = fs::path(recording->output).parent_path();
  if (!fs::is_directory(folder, error)) {
    return tl::unexpected(
        about(options.output, fmt::format("there is no folder {}", folder.string()), "make it first"));
  }
  if (!recording->oracle.empty() && !fs::is_empty(recording->oracle, error) && !error) {
    return tl::unexpected(about(recording->oracle, "it is not empty", "give --oracle a new folder"));
  }
  for (const std::string &earlier : spool::own_folders(recording->place)) {
    if (spool::living_in(earlier) != 0) continue;  // another recording, under way
    say(fmt::format("{} holds what an earlier recording left; join it with cairn merge, or remove it", earlier));
  }
  if (auto made = make_folders(recording); !made) return made;
  if (!options.quiet && !recorder::has_room(recording->spool.path.c_str(), recording->memory)) {
    say(fmt::format(
        "the disk of {} has too little room for what even one process may keep there ({}): what it has no room for is "
        "lost if a process is killed; make room, or choose another place with --spool",
        recording->place, bytes_text(recording->memory)));
  }
  return {};
}

class Finish {
 public:
  Finish(const RecordingOptions &options, const Recording &recording) : options_(options), recording_(recording) {}

  /// True if at least one trace was written and no call, and no argument of one, is missing in it.
  bool run(const std::vector<std::string> &command, const std::vector<Recorder> &recorders) {
    const spool::Contents spool = spool::read_folder(recording_.spool.path, spool::Deaths::now);
    for (const Error &damage : spool.damaged) fault(damage);
    gpu_ = spool::read_gpu(spool.gpu);
    for (const Error &damage : gpu_.damaged) fault(damage);
    for (const spool::Run &run : spool::runs_of(spool)) {
      if (run.trace.empty() && run.job.no_calls()) {
        killed_early_ = true;
        were_in_ += first_calls(run);
        continue;
      }
      auto joined = spool::trace_of(run);
      if (!joined) {
        fault(joined.error());
        continue;
      }
      for (const Error &damage : joined->damaged) fault(damage);
      if (joined->ranks != 0) place(joined->trace, run.trace, spool.epilogues);
    }
    for (const std::string &line : lost_lines(gpu_)) say(line);
    missing_ = missing_ || gpu_.in_flight != 0 || gpu_.unwritten != 0;
    if (written_ == 0 && !gpu_.launches.launches.empty()) {
      // A program that calls no MPI.
      const spool::TraceBytes alone = spool::gpu_alone(gpu_, shell_quoted(command));
      gpu_.launches = {};
      place(alone, {}, {});
    }
    for (const std::string &line : lost_lines(spool, recording_.place)) say(line);
    missing_ = missing_ || !spool.lost.empty();
    if (written_ == 0 && !failed_) nothing(command, recorders, spool);
    if (!failed_) clean(spool);
    if (alone_ > 1 && alone_ == written_ && !spawns_ && is_launcher(command.front())) {
      say(fmt::format(
          "each process was an MPI job of its own: {} belongs to another MPI than the program, which uses {}",
          command.front(), mpi_.substr(0, mpi_.find_first_of(",\n"))));
    }
    if (!options_.quiet && spawns_ && written_ > 1) {
      say(fmt::format("one trace of these jobs, with messages between them: cairn join {} -o all.cairn",
                      shell_quoted({options_.output})));
    }
    if (!options_.quiet && isatty(STDERR_FILENO) == 1 && !next_.empty()) say("next: " + shell_quoted(next_));
    return written_ > 0 && !failed_ && !missing_;
  }

 private:
  void fault(const Error &error) {
    failed_ = true;
    report(error);
  }

  void place(const spool::TraceBytes &bytes, const std::string &from, const std::vector<spool::PartFile> &epilogues) {
    const std::string path = free_name();
    auto resolved = spool::with_epilogues(bytes, path, epilogues);
    if (resolved) resolved = spool::with_sources(std::move(*resolved), path);
    if (resolved) resolved = spool::with_gpu(std::move(*resolved), path, std::exchange(gpu_.launches, {}));
    if (resolved && recording_.timing.is_after()) resolved = in_mode_asked(*std::move(resolved), path);
    // A trace that cannot be read is still worth keeping: verify will say what is wrong with it.
    if (!resolved) fault(resolved.error());
    const spool::TraceBytes &final_bytes = resolved ? *resolved : bytes;
    if (auto done = spool::write_trace(path, final_bytes, options_.force); !done) {
      fault(done.error());
      if (!from.empty()) say(fmt::format("the trace without call sites is still in {}", from));
      return;
    }
    if (!from.empty()) spool::remove_own(from);
    ++written_;
    if (resolved) look_at(path, final_bytes);
  }

  /// The lines of call sites are known: the exact times become bounded, as far as that is possible.
  spool::TraceBytes in_mode_asked(spool::TraceBytes bytes, const std::string &path) const {
    const auto trace = trace::Trace::from_bytes(bytes.bytes, path, bytes.absent, bytes.blocks);
    if (!trace) return bytes;
    std::vector<std::string> unmet;
    const auto made = in_mode(*trace, recording_.timing, &unmet);
    if (!made) {
      say(fmt::format("{}: its times stay exact: {}", path, made.error().message));
      return bytes;
    }
    for (const std::string &site : unmet) say(fmt::format("--timing: no call site is called {}", site));
    return {made->file, 0, {}};
  }

  /// run.cairn, where an earlier one can be kept aside if need be; else the first of run-2.cairn, run-3.cairn, … that
  /// is not there.
  std::string free_name() {
    if (++number_ == 1) {
      if (options_.named || options_.force) return recording_.output;
      const auto old = spool::set_aside(recording_.output);
      std::error_code ignored;
      if (old && !old->empty() && !options_.quiet) {
        say(fmt::format("{} of an earlier recording is now {}.old", options_.output, options_.output));
      }
      if (old && !fs::exists(recording_.output, ignored)) return recording_.output;
      ++number_;
    }
    std::error_code ignored;
    while (!options_.force && fs::exists(spool::numbered(recording_.output, number_), ignored)) ++number_;
    return spool::numbered(recording_.output, number_);
  }

  /// Whether all is in it; and unless quiet, what is.
  void look_at(const std::string &path, const spool::TraceBytes &bytes) {
    // All classes of a run on very many irregular ranks may take more memory than there is here, where it was started.
    constexpr uint64_t kMostInBundles = 16u << 20;
    auto trace = trace::Trace::open(path, trace::no_bundles);
    if (!trace) return;
    const auto sizes = trace->section_bytes();
    const auto bundles = sizes.find("bundles");
    const bool all = bundles == sizes.end() || bundles->second <= kMostInBundles;
    if (all && bundles != sizes.end()) trace = trace::Trace::open(path);
    if (!trace) return;
    const analyze::Overview view = analyze::outline(*trace);
    for (const auto &[reason, told] : view.degraded) missing_ = missing_ || told.missing;
    if (view.world == 1) ++alone_;
    spawns_ = spawns_ || view.spawns;
    mpi_ = view.run.mpi;
    if (options_.quiet) return;
    std::error_code ignored;
    const std::string shown =
        number_ == 1 ? options_.output : fs::path(path).lexically_proximate(fs::current_path(ignored)).string();
    const std::string calls =
        all ? fmt::format("{} of {}, ", plural(view.calls, "call"), plural(view.functions, "function")) : "";
    say(fmt::format("{}: {}, {}{}{}", shown, plural(view.ranks, "rank"), calls, bytes_text(bytes.size()),
                    view.run.status == "complete" ? "" : ", " + view.run.status));
    for (const auto &[reason, told] : view.degraded) say(fmt::format("{}: {}", shown, loss_text(reason, told)));
    if (next_.empty()) next_ = {"cairn", view.calls == 0 ? "info" : "summary", shown};
  }

  /// What the processes of a job were in, none of whose calls had ended: "ranks 1-3 in MPI_Init at a.c:7 for 31 s".
  static std::string first_calls(const spool::Run &run) {
    auto joined = spool::trace_of(run);
    if (!joined || joined->ranks == 0) return {};
    const auto resolved = spool::with_sources(std::move(joined->trace), "");
    if (!resolved) return {};
    const auto trace = trace::Trace::from_bytes(resolved->bytes, "");
    if (!trace) return {};
    std::string text;
    for (const std::string &line : pending_lines(analyze::pending_calls(*trace, analyze::Sources(*trace)))) {
      text += (text.empty() ? "" : "; ") + line;
    }
    return text;
  }

  void nothing(const std::vector<std::string> &command, const std::vector<Recorder> &recorders,
               const spool::Contents &spool) {
    struct statvfs disk {};
    std::error_code ignored;
    if (!fs::is_directory(recording_.spool.path, ignored)) {
      say(fmt::format("nothing was recorded: somebody removed the spool {} while the program ran",
                      recording_.spool.path));
    } else if (!spool.reasons.empty()) {
      for (const std::string &reason : spool.reasons) say("nothing was recorded: " + reason);
    } else if (!spool.lost.empty()) {
      return;  // it was said why
    } else if (killed_early_) {
      say("nothing was recorded: the processes were killed before their first MPI call had ended" +
          (were_in_.empty() ? "" : ": " + were_in_));
    } else if (statvfs(recording_.spool.path.c_str(), &disk) == 0 && disk.f_bavail == 0) {
      say(fmt::format("nothing was recorded: the disk of {} is full; make room or choose another place with -o",
                      recording_.output));
    } else {
      say("nothing was recorded: " + why_nothing(command, recorders));
    }
  }

  void clean(const spool::Contents &spool) const {
    for (const std::string &file : spool.files) spool::remove_own(file);
    spool::remove_if_empty(recording_.spool);
  }

  const RecordingOptions &options_;
  const Recording &recording_;
  spool::GpuLeft gpu_;  ///< its launches are for the first trace
  size_t number_ = 0;
  size_t written_ = 0;
  bool spawns_ = false;            ///< some of them spawned others
  size_t alone_ = 0;               ///< of them, those of a world of one rank
  std::string mpi_;                ///< what the last one's program uses
  std::vector<std::string> next_;  ///< what to look at the first trace with
  bool failed_ = false;
  bool missing_ = false;       ///< calls or arguments, in some trace
  std::string were_in_;        ///< what they were in
  bool killed_early_ = false;  ///< processes of a job whose first call had not ended
};

/// Each process of a job would make a trace of its own, as one of all, and where one of them says 125 launchers end the
/// job: so nothing is run.
int refuse_under_launcher(const Launched &job, const std::vector<std::string> &command) {
  // One line, not one of each process; the others give the first the time to say it before the launcher ends it.
  if (job.rank != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return kRecordFailed;
  }
  const std::string program = shell_quoted(command);
  say(fmt::format(
      "cairn record is to start the launcher, and here {} started it; write cairn record -- {} {}, or {} cairn "
      "exec {}",
      job.command, job.command, program, job.command, program));
  return kRecordFailed;
}

int record(const RecordingOptions &options, const std::vector<std::string> &command) {
  if (const auto job = launched(); job && !is_launcher(command.front())) return refuse_under_launcher(*job, command);
  auto recording = resolve(options);
  if (!recording) return report_recording(recording.error());
  // The spool that this makes is taken away again by who waits for the program: nobody yet.
  HeldSignals held;
  if (auto ready = prepare(options, &*recording); !ready) return report_recording(ready.error());
  RecordingOptions inner = options;
  inner.quiet = true;  // one line, from here, not one from every job
  // Several programs in one job (a : b): one of them may have no recorder, and merging in MPI would wait for it.
  if (std::find(command.begin(), command.end(), ":") != command.end()) inner.merge = "after";
  Recording places = *recording;
  // Traces are finished in the spool and then renamed, so that a name never holds half a trace.
  places.output =
      (fs::path(recording->spool.path) / fs::path(recording->output).filename()).replace_extension(".cairn").string();
  adopt_orphans();
  const auto environment = recording_environment(inner, places, command);
  if (held.waiting()) {
    spool::remove_if_empty(recording->spool);
    held.release();
  }
  const auto code = run_child(command, environment, std::move(held));
  if (!code) {
    spool::remove_if_empty(recording->spool);
    return report_recording(code.error());
  }
  // Whoever reads what we say may be gone (2>&1 | head): the trace is to be finished all the same.
  std::signal(SIGPIPE, SIG_IGN);
  const size_t living = wait_for_processes(recording->spool.path);
  if (living != 0) {
    say(fmt::format("{} still running; when they have ended, make a trace of what they leave: cairn merge {}",
                    living == 1 ? "a process is" : plural(living, "process", "processes") + " are",
                    shell_quoted({recording->spool.path})));
    return *code == 0 ? kRecordFailed : *code;
  }
  const bool recorded = Finish(options, *recording).run(command, find_recorders(recording->library));
  return *code == 0 && !recorded ? kRecordFailed : *code;
}

}  // namespace

Action declare_record(Options &verb) {
  auto options = std::make_shared<RecordingOptions>();
  add_recording_options(verb, *options);
  return [options, &verb] {
    options->named = verb.given("--output");
    return record(*options, verb.command);
  };
}

}  // namespace cairn::cli
