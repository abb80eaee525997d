// cairn exec: becomes a program with the recorder in it. For launchers that start each process themselves:
// mpiexec -n 4 cairn exec ./app.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/recording.h"
#include "cli/verbs.h"
#include "spool/join.h"
#include "terminal/child.h"
#include "terminal/executable.h"
#include "terminal/launcher.h"
#include "terminal/terminal.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

int exec(const RecordingOptions &options, const std::vector<std::string> &command) {
  auto recording = resolve(options);
  if (!recording) return report_recording(recording.error());
  if (auto at_once = timed_at_once(*recording); !at_once) return report_recording(at_once.error());
  std::error_code error;
  // Every process of the job comes here, before any of them can have finished: what exists is from an earlier run.
  const bool keeps_old = !options.named && !options.force;
  if (const auto may = spool::may_write(recording->output, options.output, options.force || keeps_old); !may) {
    return report_recording(may.error());
  }
  if (!keeps_old) {
    fs::remove(recording->output, error);
  } else if (const auto job = launched(); (!job || job->rank == 0) && can_run(command.front())) {
    // One process is enough; and where each is a job of its own, the others may have finished theirs.
    const auto old = spool::set_aside(recording->output);
    if (!old) return report_recording(old.error());
    if (!old->empty() && !options.quiet) {
      say(fmt::format("{} of an earlier recording is now {}.old", options.output, options.output));
    }
  }
  if (const auto made = make_folders(&*recording, "exec"); !made) return report_recording(made.error());
  set_environment(recording_environment(options, *recording, command));
  const Error error_of_command = execute(command);
  spool::remove_if_empty(recording->spool);
  // Another process of the job may have made the place.
  if (options.spool.empty()) fs::remove(recording->place, error);
  return report_recording(error_of_command);
}

}  // namespace

Action declare_exec(Options &verb) {
  auto options = std::make_shared<RecordingOptions>();
  add_recording_options(verb, *options);
  return [options, &verb] {
    options->named = verb.given("--output");
    return exec(*options, verb.command);
  };
}

}  // namespace cairn::cli
