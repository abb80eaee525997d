// cairn env: prints the environment that records a program, for job scripts that start it themselves.
#include <fmt/format.h>

#include <memory>

#include "cli/recording.h"
#include "cli/verbs.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace {

struct EnvOptions : RecordingOptions {
  bool openmpi = false;
};

int env(const EnvOptions &options, const std::vector<std::string> &command) {
  auto recording = resolve(options);
  if (!recording) return report(recording.error());
  if (auto at_once = timed_at_once(*recording); !at_once) return report(at_once.error());
  if (const auto made = make_folders(&*recording); !made) return report(made.error());
  const auto variables = recording_environment(options, *recording, command);
  Output out;
  out.keep_lines();
  if (options.openmpi) {
    std::string line;
    for (const auto &[name, value] : variables) {
      line += fmt::format("{}-x {}", line.empty() ? "" : " ", shell_quoted({name + "=" + value}));
    }
    out.write(line + "\n");
  } else {
    for (const auto &[name, value] : variables) out.write(fmt::format("export {}={}\n", name, shell_quoted({value})));
  }
  return out.finish();
}

}  // namespace

Action declare_env(Options &verb) {
  auto options = std::make_shared<EnvOptions>();
  verb.flag("--openmpi", options->openmpi, "Print -x options for Open MPI's mpiexec instead of shell exports");
  add_recording_options(verb, *options);
  return [options, &verb] { return env(*options, verb.command); };
}

}  // namespace cairn::cli
