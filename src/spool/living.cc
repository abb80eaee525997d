#include "spool/living.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/spool_files.h"
#include "spool/folder.h"

namespace cairn::spool {
namespace fs = std::filesystem;
namespace {

/// Of this host.
std::vector<int> all_processes() {
  std::vector<int> found;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    int pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec == std::errc()) found.push_back(pid);
  }
  return found;
}

/// Who began each process.
std::multimap<int, int> children() {
  std::multimap<int, int> found;
  for (const int pid : all_processes()) {
    std::ifstream in(fmt::format("/proc/{}/stat", pid));
    std::string line;
    std::getline(in, line);
    // "17 (name that may hold anything) S 12 …"
    const size_t end = line.rfind(')');
    if (end == std::string::npos || line.size() < end + 5) continue;
    int parent = 0;
    std::from_chars(line.data() + end + 4, line.data() + line.size(), parent);
    found.emplace(parent, pid);
  }
  return found;
}

/// The folder of the arena that a process has mapped; empty if it has none.
std::string folder_mapped_by(int pid) {
  std::ifstream in(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(in, line);) {
    const size_t path = line.find('/');
    if (path != std::string::npos && line.ends_with(kArenaEnding)) {
      return fs::path(line.substr(path)).parent_path().string();
    }
  }
  return {};
}

void add_once(const std::string &folder, std::vector<std::string> *folders) {
  if (folder.empty() || std::find(folders->begin(), folders->end(), folder) != folders->end()) return;
  folders->push_back(folder);
}

}  // namespace

std::vector<std::string> folders_of(const std::string &place) {
  std::error_code error;
  for (const std::string &each : {place, place + ".spool"}) {
    if (!fs::is_directory(each, error)) continue;
    std::vector<std::string> folders = own_folders(each);
    if (folders.empty() && each == place) {
      // A folder in which commands were recorded.
      for (const auto &entry : fs::directory_iterator(each, error)) {
        const std::string inner = entry.path().string();
        if (!inner.ends_with(".spool") || !fs::is_directory(inner, error)) continue;
        const std::vector<std::string> more = own_folders(inner);
        folders.insert(folders.end(), more.begin(), more.end());
      }
    }
    std::sort(folders.begin(), folders.end());
    if (!folders.empty()) return folders;
  }
  return {};
}

std::vector<std::string> folders_of_process(int pid) {
  const std::multimap<int, int> begun_by = children();
  std::set<int> seen;
  std::vector<int> to_see = {pid};
  std::vector<std::string> folders;
  while (!to_see.empty()) {
    const int next = to_see.back();
    to_see.pop_back();
    if (!seen.insert(next).second) continue;
    add_once(folder_mapped_by(next), &folders);
    const auto [first, last] = begun_by.equal_range(next);
    for (auto child = first; child != last; ++child) to_see.push_back(child->second);
  }
  return folders;
}

std::vector<std::string> folders_of_processes_in(const std::string &place) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const int pid : all_processes()) {
    if (fs::equivalent(fmt::format("/proc/{}/cwd", pid), place, error)) add_once(folder_mapped_by(pid), &folders);
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace cairn::spool
