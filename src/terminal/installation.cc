#include "terminal/installation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/mpi_abi.h"

namespace cairn::cli {
namespace fs = std::filesystem;

Result<std::string> find_library() {
  std::error_code error;
  if (const char *named = getenv("CAIRN_LIB"); named != nullptr && *named != '\0') {
    const fs::path path = fs::absolute(named, error);
    if (fs::is_regular_file(path, error)) return path.string();
    return fail(ErrorKind::environment, fmt::format("CAIRN_LIB names {}, which is no file", named),
                "point it at libcairn.so, or unset it");
  }
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  // CAIRN_LIBDIR_FROM_BIN is how an installation gets from bin/ to the library, wherever it was moved to.
  for (const char *place : {CAIRN_LIBDIR_FROM_BIN "/cairn/libcairn.so", "../lib/libcairn.so"}) {
    const fs::path path = (self.parent_path() / place).lexically_normal();
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return fail(ErrorKind::environment, fmt::format("libcairn.so is not beside {}", self.string()),
              "install cairn as a whole, or set CAIRN_LIB");
}

Result<std::string> find_program(const std::string &name, const char *needs) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const char *place : {CAIRN_LIBEXECDIR_FROM_BIN "/cairn", "../libexec/cairn"}) {
    const fs::path path = (self.parent_path() / place / name).lexically_normal();
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return fail(ErrorKind::environment, fmt::format("{} is not beside {}", name, self.string()),
              needs == nullptr ? "install cairn as a whole"
                               : fmt::format("install cairn as a whole; it is built where there is {}", needs));
}

Result<std::string> find_data(const std::string &folder, const char *marker) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const char *place : {CAIRN_DATADIR_FROM_BIN "/cairn", "../share/cairn"}) {
    const fs::path path = (self.parent_path() / place / folder).lexically_normal();
    if (fs::is_regular_file(path / marker, error)) return path.string();
  }
  return fail(ErrorKind::environment, fmt::format("share/cairn/{} is not beside {}", folder, self.string()),
              "install cairn as a whole; this part is built where there are npm and clang-19 (scripts/setup report)");
}

std::vector<Recorder> find_recorders(const std::string &library) {
  std::vector<Recorder> found;
  std::error_code error;
  const fs::path folder = fs::path(library).parent_path() / "recorders";
  for (const auto &entry : fs::directory_iterator(folder, error)) {
    const fs::path path = entry.path() / "libcairn-recorder.so";
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) found.push_back({entry.path().filename().string(), path.string()});
  }
  std::sort(found.begin(), found.end(), [](const Recorder &a, const Recorder &b) { return a.soname < b.soname; });
  return found;
}

const Recorder *recorder_for(const std::string &soname, const std::vector<Recorder> &recorders) {
  const Recorder *found = nullptr;
  for (const Recorder &each : recorders) {
    if (each.soname == soname) return &each;
    if (found == nullptr && same_mpi_abi(each.soname.c_str(), soname.c_str())) found = &each;
  }
  return found;
}

}  // namespace cairn::cli
