#include "gpu/testing/cuda/emulator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

#include "gpu/testing/emulated_warp.h"
#include "gpu/testing/shared_image.h"

namespace cairn::emulator {
namespace {

alignas(1024) uint8_t dynamic_memory[kMostDynamicShared];
size_t dynamic_size = 0;
bool is_cooperative = false;

/// The lanes of a block, kept from block to block with their stacks.
class Block {
 public:
  Block(const LaunchShape &shape, const std::function<void()> &kernel)
      : threads_(shape.block.x * shape.block.y * shape.block.z), stacks_(threads_) {
    for (uint32_t first = 0; first < threads_; first += kLanes) {
      EmulatedWarp &warp = warps_.emplace_back(stacks_, first, std::min(kLanes, threads_ - first), &kernel);
      for (uint32_t i = 0; i < warp.lane_count(); ++i) {
        const uint32_t thread = first + i;
        Place &place = warp.lane(i);
        place.thread = {thread % shape.block.x, thread / shape.block.x % shape.block.y,
                        thread / (shape.block.x * shape.block.y)};
        place.block_dim = shape.block;
        place.grid_dim = shape.grid;
      }
    }
  }

  void begin(Triple block) {
    for (EmulatedWarp &warp : warps_) {
      for (uint32_t i = 0; i < warp.lane_count(); ++i) warp.lane(i).block = block;
      warp.begin();
    }
  }

  /// Until all lanes have ended, or wait for the grid: then true.
  bool run() {
    for (;;) {
      bool any = false;
      for (EmulatedWarp &warp : warps_) any = warp.turn() || any;
      if (any) {
        if (is_cooperative) return true;
        continue;
      }
      uint32_t alive = 0;
      uint32_t waits = 0;
      bool stuck = false;
      for (const EmulatedWarp &warp : warps_) {
        alive |= warp.alive();
        waits |= warp.at_grid_barrier();
        stuck = stuck || warp.alive() != (warp.at_barrier() | warp.at_grid_barrier());
      }
      if (alive == 0) return false;
      if (stuck) stop("lanes wait for others of their warp that never come");
      bool passed = false;
      for (EmulatedWarp &warp : warps_) {
        passed = passed || warp.at_barrier() != 0;
        // Those that wait for the grid come to no barrier of the block.
        if (waits == 0) warp.pass_barrier();
      }
      if (waits != 0 && passed) stop("some lanes of a block wait for the block, others for the grid");
      if (waits != 0) return true;
    }
  }

  [[nodiscard]] bool waits_for_grid() const {
    for (const EmulatedWarp &warp : warps_) {
      if (warp.alive() != warp.at_grid_barrier()) return false;
    }
    return true;
  }
  void pass_grid_barrier() {
    for (EmulatedWarp &warp : warps_) warp.pass_grid_barrier();
  }

 private:
  const uint32_t threads_;
  Stacks stacks_;
  std::deque<EmulatedWarp> warps_;
};

template <typename F>
void for_each_block(Triple grid, F body) {
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) body(Triple{x, y, z});
    }
  }
}

/// All blocks at once, a turn each.
void run_together(const LaunchShape &shape, const std::function<void()> &kernel) {
  const uint64_t blocks = uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
  if (blocks * shape.block.x * shape.block.y * shape.block.z > 16'384) {
    stop("a cooperative launch has 16384 threads at most here");
  }
  struct Resident {
    Resident(const LaunchShape &shape, const std::function<void()> &kernel)
        : block(shape, kernel), shared(dynamic_memory, shape.shared) {}
    Block block;
    SharedImage shared;
    bool runs = true;
  };
  std::deque<Resident> residents;
  for_each_block(shape.grid, [&](Triple place) { residents.emplace_back(shape, kernel).block.begin(place); });
  const SharedImage host(dynamic_memory, 0);
  for (bool any = true; any;) {
    any = false;
    bool all_wait = true;
    for (Resident &each : residents) {
      if (!each.runs) continue;
      if (!each.block.waits_for_grid()) {
        each.shared.put();
        each.runs = each.block.run();
        each.shared.take();
      }
      any = any || each.runs;
      all_wait = all_wait && (!each.runs || each.block.waits_for_grid());
    }
    if (!all_wait) continue;
    for (Resident &each : residents) each.block.pass_grid_barrier();
  }
  host.put();
}

/// CAIRN_EMULATOR_SCHEDULE=random:SEED, for programs that cannot call set_schedule.
void schedule_from_environment() {
  const char *wanted = std::getenv("CAIRN_EMULATOR_SCHEDULE");
  if (wanted == nullptr || std::strncmp(wanted, "random", 6) != 0) return;
  set_schedule(Schedule::random, wanted[6] == ':' ? std::strtoull(wanted + 7, nullptr, 10) : 1);
}

}  // namespace

uint32_t converge(uint32_t location) { return current_lane()->warp->converge(current_lane(), location); }
void synchronise_block() { current_lane()->warp->wait_for_block(current_lane()); }
void synchronise_grid() {
  if (!is_cooperative) stop("only a cooperative launch can wait for its grid: use cudaLaunchCooperativeKernel");
  current_lane()->warp->wait_for_grid(current_lane());
}
const uint64_t *exchange(uint32_t mask, uint64_t value) {
  return current_lane()->warp->exchange(current_lane(), mask, value);
}
void pause() { current_lane()->warp->pause(current_lane()); }
void *dynamic_shared() { return dynamic_memory; }
size_t dynamic_shared_size() { return dynamic_size; }

int device_count() {
  static const int count = [] {
    const char *wanted = std::getenv("CAIRN_EMULATOR_DEVICES");
    const int read = wanted == nullptr ? 1 : std::atoi(wanted);
    return read < 1 ? 1 : read;
  }();
  return count;
}

void launch(const LaunchShape &shape, const std::function<void()> &kernel) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  static const bool asked = (schedule_from_environment(), true);
  (void)asked;
  const Triple block = shape.block;
  if (uint64_t{block.x} * block.y * block.z > 1024) stop("a block has 1024 threads at most");
  if (shape.shared > kMostDynamicShared) stop("a block has 227 KiB of dynamic shared memory at most");
  dynamic_size = shape.shared;
  is_cooperative = shape.cooperative;
  if (shape.cooperative) {
    run_together(shape, kernel);
  } else {
    Block lanes(shape, kernel);
    for_each_block(shape.grid, [&](Triple place) {
      lanes.begin(place);
      if (lanes.run()) stop("a launch that is not cooperative waits for its grid");
    });
  }
  current_place = nullptr;
}

}  // namespace cairn::emulator
