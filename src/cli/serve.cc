// cairn serve: the traces of a folder as pages, on this machine alone.
#include <filesystem>
#include <memory>

#include "cli/verbs.h"
#include "terminal/child.h"
#include "terminal/installation.h"
#include "terminal/terminal.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

struct ServeOptions {
  std::string folder = ".";
  std::optional<uint64_t> port;
};

int serve(const ServeOptions &options) {
  std::error_code error;
  if (!fs::is_directory(options.folder, error)) {
    return report(Error{ErrorKind::environment, "this is no folder", options.folder, Error::kNoOffset,
                        "name the folder that the traces are in"});
  }
  if (options.port.value_or(0) > 65535) return refuse("there is no such port", "name one from 1024 to 65535");
  const auto assets = find_data("report", "page.html");
  if (!assets) return report(assets.error());
  const auto program = find_program("cairn-serve", "libcpp-httplib-dev");
  if (!program) return report(program.error());
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  return report(execute({*program, options.folder, std::to_string(options.port.value_or(0)), self, *assets}));
}

}  // namespace

Action declare_serve(Options &verb) {
  auto options = std::make_shared<ServeOptions>();
  verb.text("folder", options->folder, "Where the traces are; this folder if left out");
  verb.number("--port", options->port, "The port of 127.0.0.1; any that is free if left out", "N");
  return [options] { return serve(*options); };
}

}  // namespace cairn::cli
