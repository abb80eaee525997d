#include "terminal/mpi_libraries.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/mpi_abi.h"

namespace cairn::cli {
namespace fs = std::filesystem;

std::vector<std::string> folders_in(const std::string &list) {
  std::vector<std::string> folders;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) folders.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

const std::vector<std::string> &loader_folders() {
  static const std::vector<std::string> folders = [] {
    std::vector<std::string> all;
    std::vector<fs::path> files = {"/etc/ld.so.conf"};
    std::error_code error;
    for (const auto &entry : fs::directory_iterator("/etc/ld.so.conf.d", error)) files.push_back(entry.path());
    for (const fs::path &file : files) {
      std::ifstream lines(file);
      for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line[0] == '/') all.push_back(line);
      }
    }
    all.insert(all.end(), {"/lib", "/usr/lib", "/lib64", "/usr/lib64"});
    return all;
  }();
  return folders;
}

std::vector<MpiLibrary> find_mpi_libraries() {
  std::vector<std::string> folders;
  if (const char *set = getenv("LD_LIBRARY_PATH")) folders = folders_in(set);
  folders.insert(folders.end(), loader_folders().begin(), loader_folders().end());
  std::vector<MpiLibrary> found;
  std::set<std::string> seen;
  for (const std::string &folder : folders) {
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      // libmpi.so.40 and libmpich.so.12: sonames; longer ones are files that these point to.
      const size_t at = name.starts_with("libmpich.so.") ? 12 : name.starts_with("libmpi.so.") ? 10 : 0;
      // Cray's libmpi_cray.so.12, libmpi_gnu_91.so.12, …
      const bool named = name.starts_with("libmpi_") && has_mpich_abi(name.c_str());
      const bool number = at != 0 && at < name.size() &&
                          std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at), name.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
      if ((number || named) && seen.insert(name).second) found.push_back({name, entry.path().string()});
    }
  }
  std::sort(found.begin(), found.end(), [](const MpiLibrary &a, const MpiLibrary &b) { return a.soname < b.soname; });
  return found;
}

}  // namespace cairn::cli
