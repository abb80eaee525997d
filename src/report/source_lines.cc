#include "report/source_lines.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "text/utf8.h"

namespace cairn::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr size_t kMostBytes = size_t{512} << 10;
constexpr uintmax_t kMostOfFile = uintmax_t{4} << 20;
constexpr uint32_t kAround = 15;  // lines before and after a call

bool is_written_after(const std::string &path, std::chrono::system_clock::time_point moment) {
  struct stat status {};
  return moment != std::chrono::system_clock::time_point() && stat(path.c_str(), &status) == 0 &&
         std::chrono::system_clock::from_time_t(status.st_mtime) > moment;
}

}  // namespace

bool is_named_as_source(const std::string &path) {
  constexpr std::string_view kEndings[] = {"c",   "cc",  "cpp", "cxx", "c++", "h",   "hh",  "hpp", "hxx", "h++", "inl",
                                           "inc", "ipp", "tcc", "tpp", "cu",  "cuh", "hip", "f",   "for", "ftn", "f77",
                                           "f90", "f95", "f03", "f08", "f18", "fpp", "py",  "pyx", "jl",  "rs"};
  std::string ending = fs::path(path).extension().string();
  if (ending.empty()) return false;
  ending.erase(0, 1);
  for (char &letter : ending) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return std::ranges::find(kEndings, ending) != std::end(kEndings);
}

std::vector<std::string> lines_of(const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kMostOfFile) return {};
  std::vector<std::string> lines;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (line.find('\0') != std::string::npos) return {};
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(valid_utf8(line));
  }
  return lines;
}

ordered_json source_lines(const std::map<std::string, std::set<uint32_t>> &wanted,
                          std::chrono::system_clock::time_point ended) {
  ordered_json all = ordered_json::array();
  size_t bytes = 0;
  for (const auto &[path, numbers] : wanted) {
    if (!is_named_as_source(path)) continue;
    const std::vector<std::string> lines = lines_of(path);
    const bool changed = is_written_after(path, ended);
    uint32_t next = 1;  // of the first line that was not told
    for (const uint32_t number : numbers) {
      if (number == 0 || number > lines.size()) continue;
      const uint32_t first = std::max(next, number > kAround ? number - kAround : 1);
      const uint32_t last = std::min<uint32_t>(static_cast<uint32_t>(lines.size()), number + kAround);
      if (first > last) continue;
      const bool goes_on = first == next && next > 1;
      if (!goes_on) {
        all.push_back({{"file", path}, {"first", first}, {"lines", ordered_json::array()}});
        if (changed) all.back()["changed"] = true;
      }
      for (uint32_t line = first; line <= last; ++line) {
        bytes += lines[line - 1].size() + 1;
        if (bytes > kMostBytes) return all;
        all.back()["lines"].push_back(lines[line - 1]);
      }
      next = last + 1;
    }
  }
  return all;
}

}  // namespace cairn::report
