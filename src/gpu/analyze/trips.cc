#include "gpu/analyze/trips.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "base/saturating.h"
#include "gpu/analyze/distinct_warps.h"

namespace cairn::analyze {
namespace {

constexpr size_t kMostLanes = 64;
using Trips = std::map<std::pair<uint32_t, uint16_t>, LoopTrips>;

class Counting : public TimelineVisitor {
 public:
  Counting(uint32_t program, uint64_t times, Trips *trips) : program_(program), times_(times), trips_(*trips) {}

  void function_begins(uint64_t, const std::string &) override { open_.emplace_back(); }
  void loop_begins(uint64_t, uint16_t point) override { open_.emplace_back().loop = point; }
  void point(uint64_t, const gpu::Event &event) override {
    Open &innermost = open_.back();
    if (innermost.loop != event.location) return;
    for (uint64_t left = event.mask; left != 0; left &= left - 1) {
      ++innermost.turns[static_cast<size_t>(std::countr_zero(left))];
    }
  }
  void slice_ends(uint64_t, uint64_t iterations) override {
    const Open ended = open_.back();
    open_.pop_back();
    if (!ended.loop) return;
    LoopTrips &loop = trips_[{program_, *ended.loop}];
    loop.program = program_;
    loop.location = *ended.loop;
    add_to(&loop.times, times_);
    add_to(&loop.turns, saturating_product(iterations, times_));
    for (const uint64_t turns : ended.turns) {
      if (turns == 0) continue;
      add_to(&loop.lanes, times_);
      add_to(&loop.lane_turns, saturating_product(turns, times_));
      add_to(&loop.lost, saturating_product(iterations - turns, times_));
      loop.least = std::min(loop.least, turns);
      loop.most = std::max(loop.most, turns);
      add_to(&loop.lanes_by_turns[std::bit_floor(turns)], times_);
    }
  }

 private:
  /// A function or a loop that goes on.
  struct Open {
    std::optional<uint16_t> loop;
    std::array<uint64_t, kMostLanes> turns{};  ///< by lane
  };
  uint32_t program_;
  uint64_t times_;
  Trips &trips_;
  std::vector<Open> open_;
};

}  // namespace

double LoopTrips::mean() const { return lanes == 0 ? 0 : static_cast<double>(lane_turns) / static_cast<double>(lanes); }

double LoopTrips::efficiency() const {
  return lane_turns == 0 ? 0 : static_cast<double>(lane_turns) / static_cast<double>(lane_turns + lost);
}

Result<std::vector<LoopTrips>> loop_trips(const gpu::Launches &launches) {
  const WarpWalks walks(launches);
  Trips trips;
  for (const DistinctWarp &warp : distinct_warps(launches)) {
    Counting counting(warp.launch->program, warp.times, &trips);
    if (auto done = walks.walk(warp, &counting); !done) return tl::unexpected(done.error());
  }
  std::vector<LoopTrips> all;
  all.reserve(trips.size());
  for (auto &[key, each] : trips) all.push_back(std::move(each));
  std::stable_sort(all.begin(), all.end(), [](const LoopTrips &a, const LoopTrips &b) { return a.lost > b.lost; });
  return all;
}

}  // namespace cairn::analyze
