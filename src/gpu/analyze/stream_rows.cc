#include "gpu/analyze/stream_rows.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <tuple>

namespace cairn::analyze {
namespace {

/// Adds what of [begin, end) lies in each column.
void add(uint64_t begin, uint64_t end, const std::vector<uint64_t> &edges, std::vector<uint64_t> *columns) {
  const auto behind = std::upper_bound(edges.begin(), edges.end(), begin);
  size_t column = behind == edges.begin() ? 0 : static_cast<size_t>(behind - edges.begin()) - 1;
  for (; column < columns->size() && edges[column] < end; ++column) {
    const uint64_t from = std::max(begin, edges[column]);
    const uint64_t to = std::min(end, edges[column + 1]);
    (*columns)[column] += to > from ? to - from : 0;
  }
}

}  // namespace

std::string StreamRow::name() const {
  return std::to_string(rank) + " gpu" + std::to_string(device) + "/" + std::to_string(stream);
}

std::vector<StreamRow> stream_rows(const std::vector<TimedLaunch> &timed, const gpu::Launches &launches,
                                   const std::vector<uint32_t> &ranks, const std::vector<uint64_t> &edges) {
  assert(edges.size() > 1);
  const std::set<uint32_t> wanted(ranks.begin(), ranks.end());
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, StreamRow> rows;
  for (const TimedLaunch &each : timed) {
    const gpu::LaunchRecord &launch = *each.launch;
    if (!each.begin_ns || !wanted.contains(launch.rank)) continue;
    const int64_t end = *each.begin_ns + static_cast<int64_t>(launch.moment.duration_ns);
    if (end <= static_cast<int64_t>(edges.front()) || *each.begin_ns >= static_cast<int64_t>(edges.back())) continue;
    StreamRow &row = rows[{launch.rank, launch.device, launch.stream}];
    row.rank = launch.rank;
    row.device = launch.device;
    row.stream = launch.stream;
    std::vector<uint64_t> &columns = row.ns[launches.programs[launch.program].kernel(launch.kernel)];
    columns.resize(edges.size() - 1);
    add(static_cast<uint64_t>(std::max<int64_t>(0, *each.begin_ns)), static_cast<uint64_t>(end), edges, &columns);
  }
  std::vector<StreamRow> all;
  all.reserve(rows.size());
  for (auto &[key, row] : rows) all.push_back(std::move(row));
  return all;
}

}  // namespace cairn::analyze
