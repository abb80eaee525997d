// cairn env: prints the environment that records a program, for job scripts that start it themselves.
#include <fmt/format.h>

#include <memory>

#include "cli/recording.h"
#include "cli/verbs.h"
#include "terminal/installation.h"
#include "terminal/terminal.h"

namespace cairn::cli {
namespace {

struct EnvOptions : RecordingOptions {
  bool openmpi = false;
};

int env(const EnvOptions &options, const std::vector<std::string> &command) {
  const auto recording = resolve(options);
  if (!recording) return report(recording.error());
  const auto library = find_library();
  if (!library) return report(library.error());
  if (auto made = make_folder(recording->spool, "the spool"); !made) return report(made.error());
  if (!recording->oracle.empty()) {
    if (auto made = make_folder(recording->oracle, "the folder for the oracle"); !made) return report(made.error());
  }
  auto variables = recording_environment(options, *recording, command);
  variables.emplace_back("LD_PRELOAD", preload_value(*library));
  Output out;
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
