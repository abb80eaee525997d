// cairn instrument: becomes cairn-instrument, which does the work with libclang; this declares and checks its words.
#include <memory>

#include "cli/verbs.h"
#include "terminal/child.h"
#include "terminal/installation.h"
#include "terminal/options.h"
#include "terminal/terminal.h"

namespace cairn::cli {
namespace {

struct InstrumentOptions {
  std::vector<std::string> files;
  std::string output;
  std::string include;
  std::string headers;
  std::vector<std::string> projects;
  std::vector<std::string> includes;
  std::vector<std::string> defines;
  std::string standard;
  std::string language = "cuda";
  std::string cuda_path;
  bool emulator = false;
  bool no_points = false;
  bool force = false;
};

}  // namespace

void add_instrument(CLI::App &app, Run &run, const Command &words) {
  auto options = std::make_shared<InstrumentOptions>();
  Options verb(app, "instrument", "Put trace points into a CUDA or HIP program");
  verb.words("FILE", options->files,
             "The sources to instrument, all of one program; what follows -- goes to the parser, which is Clang");
  verb.text("-o,--output", options->output, "File to write, or folder for several; NAME.traced.cu if left out", "FILE");
  verb.text("--headers", options->headers, "Also instrument the project's headers, into copies below DIR", "DIR");
  verb.repeated("--project", options->projects, "A folder of project headers besides the source's own", "DIR");
  verb.flag("--emulator", options->emulator, "Write for the emulator: launches become calls of it");
  verb.flag("--no-points", options->no_points, "With --emulator: change launches only, trace nothing");
  verb.text("--include", options->include, "The folder that has cairn/gpu.h; this installation's if left out", "DIR");
  verb.repeated("-I", options->includes, "A folder of headers", "DIR");
  verb.repeated("-D", options->defines, "A macro", "NAME[=VALUE]");
  verb.text("--std", options->standard, "The language's version, as -std=c++17, which is meant if left out", "STD");
  verb.choice("-x,--language", options->language, {"cuda", "hip"}, "The language; that of the file's name if left out",
              "LANGUAGE");
  verb.text("--cuda-path", options->cuda_path, "Where CUDA lies; none for the parser's own idea of it", "DIR");
  verb.flag("-f,--force", options->force, "Overwrite existing files");
  verb.chosen([&run, &words] {
    run = [&words] {
      const auto program = find_instrumenter();
      if (!program) return report(program.error());
      Command command = words;
      command.insert(command.begin(), *program);
      return report(execute(command));
    };
  });
}

}  // namespace cairn::cli
