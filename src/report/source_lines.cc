#include "report/source_lines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "text/utf8.h"

namespace cairn::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr size_t kMostBytes = size_t{512} << 10;
constexpr uintmax_t kMostOfFile = uintmax_t{4} << 20;
constexpr uint32_t kAround = 15;  // lines before and after a call

}  // namespace

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

ordered_json source_lines(const std::map<std::string, std::set<uint32_t>> &wanted) {
  ordered_json all = ordered_json::array();
  size_t bytes = 0;
  for (const auto &[path, numbers] : wanted) {
    const std::vector<std::string> lines = lines_of(path);
    uint32_t next = 1;  // of the first line that was not told
    for (const uint32_t number : numbers) {
      if (number == 0 || number > lines.size()) continue;
      const uint32_t first = std::max(next, number > kAround ? number - kAround : 1);
      const uint32_t last = std::min<uint32_t>(static_cast<uint32_t>(lines.size()), number + kAround);
      if (first > last) continue;
      const bool goes_on = first == next && next > 1;
      if (!goes_on) all.push_back({{"file", path}, {"first", first}, {"lines", ordered_json::array()}});
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
