#include "cairn/emulator/emulator.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace cairn::emulator {
namespace {

namespace ctx = boost::context;

constexpr uint32_t kLanes = 32;
constexpr size_t kStack = size_t{128} << 10;

enum class State : uint8_t {
  ended,
  ready,
  at_point,
  in_exchange,
  at_barrier,
};

struct Lane {
  Place place;
  State state = State::ended;
  uint32_t index = 0;
  uint32_t location = 0;  ///< at_point
  uint32_t mask = 0;      ///< what the point or the exchange is to give, or waits for
  uint32_t pauses = 0;
  uint64_t value = 0;
  uint64_t values[kLanes];
  ctx::fiber fiber;  ///< where the lane goes on; while it runs, where the scheduler does
};

thread_local Lane *current;
Schedule schedule = Schedule::lowest_location;
uint64_t random_state = 1;

uint64_t draw() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

void leave() {
  Lane *lane = current;
  lane->fiber = std::move(lane->fiber).resume();
}

[[noreturn]] void stop(const char *why) {
  std::fprintf(stderr, "emulator: %s\n", why);
  std::abort();
}

class Warp {
 public:
  explicit Warp(std::vector<std::unique_ptr<Lane>> lanes) : lanes_(std::move(lanes)) {}

  /// Goes on to the next point that lanes of it pass, or, where some spin, for a while. False: all have ended, or wait
  /// for the block.
  bool turn() {
    for (;;) {
      run_ready();
      if (release_exchanges()) continue;
      return pass_point() || spinning();
    }
  }

  void check(bool *alive, bool *waits) const {
    for (const auto &lane : lanes_) {
      if (lane->state == State::ended) continue;
      *alive = true;
      if (lane->state != State::at_barrier) *waits = false;
    }
  }
  std::vector<std::unique_ptr<Lane>> &lanes() { return lanes_; }

 private:
  /// Lets every lane that can run do so until it waits.
  void run_ready() {
    for (auto &lane : lanes_) {
      if (lane->state != State::ready) continue;
      current = lane.get();
      lane->fiber = std::move(lane->fiber).resume();
    }
  }

  [[nodiscard]] bool spinning() const {
    for (const auto &lane : lanes_) {
      if (lane->state == State::ready) return true;
    }
    return false;
  }

  bool release_exchanges() {
    uint32_t alive = 0;
    for (const auto &lane : lanes_) alive |= lane->state == State::ended ? 0 : 1u << lane->index;
    for (auto &lane : lanes_) {
      if (lane->state != State::in_exchange) continue;
      const uint32_t wanted = lane->mask & alive;
      uint32_t here = 0;
      for (const auto &other : lanes_) {
        if (other->state == State::in_exchange && other->mask == lane->mask) here |= 1u << other->index;
      }
      if ((here & wanted) != wanted) continue;
      uint64_t values[kLanes] = {};
      for (const auto &other : lanes_) {
        if ((here >> other->index & 1) != 0) values[other->index] = other->value;
      }
      for (auto &other : lanes_) {
        if ((here >> other->index & 1) == 0) continue;
        std::copy(values, values + kLanes, other->values);
        other->state = State::ready;
      }
      return true;
    }
    return false;
  }

  bool pass_point() {
    std::vector<uint32_t> &locations = locations_;
    locations.clear();
    for (const auto &lane : lanes_) {
      if (lane->state == State::at_point) locations.push_back(lane->location);
    }
    if (locations.empty()) return false;
    uint32_t chosen = locations[0];
    if (schedule == Schedule::random) {
      chosen = locations[draw() % locations.size()];
    } else {
      for (const uint32_t location : locations) chosen = std::min(chosen, location);
    }
    uint32_t mask = 0;
    for (const auto &lane : lanes_) {
      if (lane->state == State::at_point && lane->location == chosen) mask |= 1u << lane->index;
    }
    if (schedule == Schedule::random && draw() % 4 == 0) {
      const auto some = static_cast<uint32_t>(draw());
      if ((mask & some) != 0) mask &= some;
    }
    for (auto &lane : lanes_) {
      if ((mask >> lane->index & 1) == 0) continue;
      lane->mask = mask;
      lane->state = State::ready;
    }
    return true;
  }

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<uint32_t> locations_;
};

/// The lanes of a block, kept from block to block with their stacks.
class Block {
 public:
  Block(Triple shape, const std::function<void()> &kernel) : kernel_(kernel) {
    const uint32_t threads = shape.x * shape.y * shape.z;
    for (uint32_t first = 0; first < threads; first += kLanes) {
      std::vector<std::unique_ptr<Lane>> lanes;
      for (uint32_t thread = first; thread < threads && thread < first + kLanes; ++thread) {
        auto lane = std::make_unique<Lane>();
        lane->index = thread % kLanes;
        lane->place.thread = {thread % shape.x, thread / shape.x % shape.y, thread / (shape.x * shape.y)};
        lane->place.block_dim = shape;
        Lane *own = lane.get();
        lane->fiber =
            ctx::fiber(std::allocator_arg, ctx::protected_fixedsize_stack(kStack), [this, own](ctx::fiber &&scheduler) {
              own->fiber = std::move(scheduler);
              while (!over_) {
                kernel_();
                own->state = State::ended;
                own->fiber = std::move(own->fiber).resume();
              }
              return std::move(own->fiber);
            });
        lanes.push_back(std::move(lane));
      }
      warps_.emplace_back(std::move(lanes));
    }
  }
  ~Block() {
    over_ = true;
    for (Warp &warp : warps_) {
      for (auto &lane : warp.lanes()) {
        if (started_) lane->fiber = std::move(lane->fiber).resume();
      }
    }
  }
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  void run(Triple grid, Triple block) {
    started_ = true;
    for (Warp &warp : warps_) {
      for (auto &lane : warp.lanes()) {
        lane->place.grid_dim = grid;
        lane->place.block = block;
        lane->state = State::ready;
      }
    }
    for (;;) {
      bool any = false;
      for (Warp &warp : warps_) any = warp.turn() || any;
      if (any) continue;
      bool alive = false;
      bool all_wait = true;
      for (const Warp &warp : warps_) warp.check(&alive, &all_wait);
      if (!alive) return;
      if (!all_wait) stop("lanes wait for others of their warp that never come");
      for (Warp &warp : warps_) {
        for (auto &lane : warp.lanes()) {
          if (lane->state == State::at_barrier) lane->state = State::ready;
        }
      }
    }
  }

 private:
  const std::function<void()> &kernel_;
  std::vector<Warp> warps_;
  bool started_ = false;
  bool over_ = false;
};

}  // namespace

Place &place() { return current->place; }
bool in_kernel() { return current != nullptr; }
uint32_t lane_index() { return current->index; }

uint32_t converge(uint32_t location) {
  Lane *lane = current;
  lane->location = location;
  lane->state = State::at_point;
  leave();
  return lane->mask;
}

void synchronise_block() {
  current->state = State::at_barrier;
  leave();
}

const uint64_t *exchange(uint32_t mask, uint64_t value) {
  Lane *lane = current;
  lane->mask = mask;
  lane->value = value;
  lane->state = State::in_exchange;
  leave();
  return lane->values;
}

void pause() {
  constexpr uint32_t kEvery = 64;
  if (++current->pauses % kEvery == 0) leave();
}

void set_schedule(Schedule wanted, uint64_t seed) {
  schedule = wanted;
  random_state = seed * 0x9e3779b97f4a7c15 | 1;
}

namespace {

/// CAIRN_EMULATOR_SCHEDULE=random:SEED, for programs that cannot call set_schedule.
void schedule_from_environment() {
  const char *wanted = std::getenv("CAIRN_EMULATOR_SCHEDULE");
  if (wanted == nullptr || std::strncmp(wanted, "random", 6) != 0) return;
  set_schedule(Schedule::random, wanted[6] == ':' ? std::strtoull(wanted + 7, nullptr, 10) : 1);
}

}  // namespace

void launch(Triple grid, Triple block, const std::function<void()> &kernel) {
  static const bool asked = (schedule_from_environment(), true);
  (void)asked;
  if (block.x * block.y * block.z > 1024) stop("a block has 1024 threads at most");
  Block lanes(block, kernel);
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) lanes.run(grid, {x, y, z});
    }
  }
  current = nullptr;
}

}  // namespace cairn::emulator
