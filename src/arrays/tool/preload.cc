#include "arrays/tool/preload.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "terminal/child.h"
#include "terminal/terminal.h"

namespace cairn::array_tool {

namespace fs = std::filesystem;

Result<std::string> find_library(const std::string &name, const std::string &named, const std::string &hint) {
  std::error_code error;
  if (!named.empty()) {
    const fs::path path = fs::absolute(named, error);
    if (fs::is_regular_file(path, error)) return path.string();
    return fail(ErrorKind::environment, fmt::format("--library names {}, which is no file", named),
                fmt::format("point it at {}, or leave it out", name));
  }
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const char *place : {CAIRN_LIBDIR_FROM_LIBEXEC, "../../lib"}) {
    const fs::path path = (self.parent_path() / place / name).lexically_normal();
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return fail(ErrorKind::environment, fmt::format("{} is not beside {}", name, self.string()), hint);
}

int execute_with(const std::string &library, const std::vector<std::string> &command) {
  const char *set = getenv("LD_PRELOAD");
  cli::set_environment({{"LD_PRELOAD", set == nullptr || *set == '\0' ? library : library + ":" + set}});
  return cli::report_recording(cli::execute(command));
}

}  // namespace cairn::array_tool
