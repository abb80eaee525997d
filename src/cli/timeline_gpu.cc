#include "cli/timeline_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::StreamRow;

constexpr size_t kDigits = 9;
constexpr char kOtherKernels = '+';
constexpr char kAny = '#';

/// Kernels and how long they ran, the longest first.
std::vector<std::pair<std::string, uint64_t>> kernels_of(const std::vector<StreamRow> &rows) {
  std::map<std::string, uint64_t> sums;
  for (const StreamRow &row : rows) {
    for (const auto &[kernel, columns] : row.ns) {
      sums[kernel] += std::accumulate(columns.begin(), columns.end(), uint64_t{0});
    }
  }
  std::vector<std::pair<std::string, uint64_t>> all(sums.begin(), sums.end());
  std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
  return all;
}

/// In each column what ran longest there; a space where nothing did.
std::string drawn(const StreamRow &row, const std::map<std::string, char> &letters) {
  std::string line;
  std::vector<uint64_t> most;
  for (const auto &[kernel, columns] : row.ns) {
    line.resize(columns.size(), ' ');
    most.resize(columns.size());
    for (size_t at = 0; at < columns.size(); ++at) {
      if (columns[at] <= most[at]) continue;
      most[at] = columns[at];
      line[at] = letters.at(kernel);
    }
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

size_t widest_name(const gpu::Launches &launches, const std::vector<uint32_t> &ranks) {
  size_t widest = 4;
  for (const gpu::LaunchRecord &launch : launches.launches) {
    const bool wanted = launch.moment.ran && std::binary_search(ranks.begin(), ranks.end(), launch.rank);
    if (wanted) widest = std::max(widest, StreamRow{launch.rank, launch.device, launch.stream, {}}.name().size());
  }
  return widest;
}

std::string stream_text(const std::vector<StreamRow> &rows, size_t width, size_t most, bool by_kernel) {
  if (rows.empty()) return {};
  std::map<std::string, char> letters;
  std::string legend;
  for (const auto &[kernel, ns] : kernels_of(rows)) {
    const size_t number = letters.size();
    const char letter = !by_kernel ? kAny : number < kDigits ? static_cast<char>('1' + number) : kOtherKernels;
    letters[kernel] = letter;
    if (by_kernel && letter != kOtherKernels)
      legend += fmt::format("{} {}  {}\n", letter, time_text(ns), valid_utf8(kernel));
  }
  if (!by_kernel) legend = fmt::format("{} kernels   ", kAny);
  if (letters.size() > kDigits && by_kernel) legend += fmt::format("{} other kernels\n", kOtherKernels);
  std::string text = "\n";
  for (size_t i = 0; i < std::min(rows.size(), most); ++i) {
    text += fmt::format("{:>{}}  {}\n", rows[i].name(), width, drawn(rows[i], letters));
  }
  if (rows.size() > most) text += fmt::format("{} more; --lines shows them\n", plural(rows.size() - most, "stream"));
  legend.erase(legend.find_last_not_of(" \n") + 1);
  return text + "\n" + legend + "\n";
}

nlohmann::ordered_json stream_json(const std::vector<StreamRow> &rows) {
  auto all = nlohmann::ordered_json::array();
  for (const StreamRow &row : rows) {
    nlohmann::ordered_json one{{"rank", row.rank}, {"device", row.device}, {"stream", row.stream}};
    for (const auto &[kernel, columns] : row.ns) one["ns"][valid_utf8(kernel)] = columns;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace cairn::cli
