// cairn instrument: the words of cairn-instrument, which does the work with libclang, so that help and mistakes are as
// with any verb. That program reads them again.
#include <memory>

#include "cli/verbs.h"

namespace cairn::cli {
namespace {

struct InstrumentOptions {
  std::vector<std::string> files;
  std::vector<std::string> many;
  std::string text;
  bool flag = false;
};

}  // namespace

Action declare_instrument(Options &verb) {
  auto read = std::make_shared<InstrumentOptions>();
  verb.words("FILE", read->files,
             "The sources to instrument, all of one program; what follows -- goes to the parser, which is Clang");
  verb.text("-o,--output", read->text, "File to write, or folder for several; NAME.traced.cu if left out", "FILE");
  verb.text("--headers", read->text, "Also instrument the project's headers, into copies below DIR", "DIR");
  verb.repeated("--project", read->many, "A folder of project headers besides the source's own", "DIR");
  verb.flag("--accesses", read->flag, "Also put trace points at loads, stores and atomics, for cairn gpu accesses");
  verb.flag("--emulator", read->flag, "Write for the emulator: launches become calls of it");
  verb.flag("--no-points", read->flag, "With --emulator: trace nothing");
  verb.text("--include", read->text, "The folder that has cairn/gpu.h; this installation's if left out", "DIR");
  verb.repeated("-I", read->many, "A folder of headers", "DIR");
  verb.repeated("-D", read->many, "A macro", "NAME[=VALUE]");
  verb.text("--std", read->text, "The language's version, as -std=c++17, which is meant if left out", "STD",
            {"c++14", "c++17", "c++20"});
  verb.spelled("-std", "--std");
  verb.choice("-x,--language", read->text, {"cuda", "hip"}, "The language; that of the file's name if left out",
              "LANGUAGE");
  verb.text("--cuda-path", read->text, "Where CUDA lies; none for the parser's own idea of it", "DIR");
  verb.flag("-f,--force", read->flag, "Overwrite existing files");
  return [read] { return 0; };  // never done: keeps what the words are read into
}

}  // namespace cairn::cli
