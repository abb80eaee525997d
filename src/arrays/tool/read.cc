// cairn arrays read: becomes a program that reads NetCDF by itself, without MPI, and sees compressed files as plain
// ones.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "arrays/tool/preload.h"
#include "arrays/tool/verbs.h"
#include "terminal/executable.h"
#include "terminal/terminal.h"

namespace cairn::array_tool {
namespace {

int read_with(const std::string &named, const std::vector<std::string> &command) {
  const auto library =
      find_library("libcairn-arrays-read.so", named, "install cairn as a whole, or name it with --library");
  if (!library) return cli::report_recording(library.error());
  for (const cli::Executable &program : cli::executables_of(command)) {
    if (program.is_certain && (!program.is_dynamic || program.is_privileged || program.is_musl)) {
      cli::say(fmt::format("{} {}: it sees compressed files as they are; 'cairn arrays export' writes plain ones",
                           program.path,
                           program.is_privileged ? "runs with privileges"
                           : program.is_musl     ? "is linked with musl"
                                                 : "is linked statically"));
    }
  }
  return execute_with(*library, command);
}

}  // namespace

cli::Action declare_read(cli::Options &verb) {
  auto named = std::make_shared<std::string>();
  verb.text("--library", *named, "The library to use instead of this installation's", "FILE");
  return [named, &verb] { return read_with(*named, verb.command); };
}

}  // namespace cairn::array_tool
