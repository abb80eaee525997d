#include "proxy/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

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
  fs::create_directories(folder, error);
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
  for (const ProxyFile &file : all) {
    std::ofstream out(fs::path(folder) / file.name, std::ios::binary | std::ios::trunc);
    out << file.text;
    out.close();
    if (!out) {
      return fail(ErrorKind::environment, fmt::format("{} cannot be written", (fs::path(folder) / file.name).string()));
    }
    old.erase(file.name);
  }
  for (const std::string &gone : old) fs::remove(fs::path(folder) / gone, error);
  return {};
}

}  // namespace cairn::proxy
