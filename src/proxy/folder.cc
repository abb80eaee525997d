#include "proxy/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "base/replaced.h"

namespace cairn::proxy {
namespace {

namespace fs = std::filesystem;

/// Names what Cairn wrote there, a line a file.
constexpr const char *kList = ".cairn-proxy";

std::set<std::string> listed(const fs::path &folder) {
  std::set<std::string> all;
  std::ifstream in(folder / kList);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.find('/') == std::string::npos) all.insert(line);
  }
  return all;
}

}  // namespace

Result<void> may_write(const std::string &folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return {};
  if (!fs::is_directory(folder, error)) {
    return fail(ErrorKind::environment, fmt::format("{} is no folder", folder), "name another with -o");
  }
  if (fs::is_empty(folder, error) || fs::exists(fs::path(folder) / kList, error)) return {};
  return fail(ErrorKind::environment, fmt::format("{} holds files that cairn proxy did not make", folder),
              "name another folder with -o");
}

Result<void> write_folder(const std::string &folder, const std::vector<ProxyFile> &files) {
  if (auto may = may_write(folder); !may) return may;
  std::error_code error;
  std::set<std::string> old = listed(folder);
  std::string list;
  for (const ProxyFile &file : files) list += file.name + '\n';
  std::vector<ProxyFile> all = files;
  all.insert(all.begin(), {kList, list});
  for (const ProxyFile &file : all) {
    const fs::path path = fs::path(folder) / file.name;
    // One that lies there and that no list names is somebody's.
    if (file.name != kList && !old.contains(file.name) && fs::exists(path, error)) {
      return fail(ErrorKind::environment, fmt::format("{} is there, and cairn proxy did not make it", path.string()),
                  "name another folder with -o");
    }
  }
  // All of it beside what is there first: a full disk leaves an earlier program whole, and nothing of this one.
  const bool was_there = fs::exists(folder, error);
  fs::create_directories(folder, error);
  std::vector<std::pair<std::string, Replaced>> written;
  int wrong = 0;
  for (size_t i = 0; i < all.size() && wrong == 0; ++i) {
    const std::string path = (fs::path(folder) / all[i].name).string();
    written.emplace_back(path, Replaced(path));
    wrong = written.back().second.write({reinterpret_cast<const uint8_t *>(all[i].text.data()), all[i].text.size()});
    old.erase(all[i].name);
  }
  for (size_t i = 0; i < written.size() && wrong == 0; ++i) wrong = written[i].second.take_name();
  if (wrong != 0) {
    const std::string path = written.back().first;
    written.clear();
    if (!was_there) fs::remove(folder, error);
    return tl::unexpected(Error{ErrorKind::environment, fmt::format("cannot be written: {}", std::strerror(wrong)),
                                path, Error::kNoOffset,
                                wrong == ENOSPC ? "make room on the disk" : "name another folder with -o"});
  }
  for (const std::string &gone : old) fs::remove(fs::path(folder) / gone, error);
  return {};
}

}  // namespace cairn::proxy
