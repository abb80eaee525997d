// Inside the emulator: a warp's lanes, as contexts that jump to one another, and when they may go on.
//
// A lane that waits jumps straight to the next that can run, the last of them back to the scheduler: a jump a lane and
// point. What the scheduler looks at stands together, by lane; so do bits for each way of waiting. Owned by a block,
// used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "gpu/testing/context.h"
#include "gpu/testing/cuda/emulator.h"

namespace cairn::emulator {

constexpr uint32_t kLanes = 32;

class EmulatedWarp;

struct Lane : Place {
  EmulatedWarp *warp = nullptr;
  uint32_t pauses = 0;
};

/// Contexts' memory: stacks with a page that none may touch below each.
class Stacks {
 public:
  explicit Stacks(uint32_t count);
  ~Stacks();
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;
  /// Where stack `number` begins, at its high end. Those of neighbours differ in the cache lines they use.
  [[nodiscard]] void *top(uint32_t number) const;
  static constexpr size_t kSize = size_t{128} << 10;

 private:
  uint8_t *memory_;
  size_t bytes_;
};

/// What a block's lanes tell at a barrier: those that have come, and those that passed the last one.
struct BlockVotes {
  BlockVote come;
  BlockVote passed;
};

class EmulatedWarp {
 public:
  /// `first`: the number of its first lane's stack; `votes`: the block's.
  EmulatedWarp(const Stacks &stacks, uint32_t first, uint32_t lanes, const std::function<void()> *kernel,
               BlockVotes *votes);
  EmulatedWarp(const EmulatedWarp &) = delete;
  EmulatedWarp &operator=(const EmulatedWarp &) = delete;

  /// All lanes go from the kernel's beginning.
  void begin();
  /// Goes on to the next point that lanes of it pass, or to the next exchange of all that take part in it, or, where
  /// some spin, for a while. False: all have ended, or wait for the block or the grid.
  bool turn();
  void pass_barrier();
  void pass_grid_barrier();
  [[nodiscard]] uint32_t alive() const { return alive_; }
  [[nodiscard]] uint32_t at_barrier() const { return barrier_; }
  [[nodiscard]] uint32_t at_grid_barrier() const { return grid_barrier_; }
  [[nodiscard]] uint32_t lane_count() const { return count_; }
  Lane &lane(uint32_t index) { return lanes_[index]; }

  // What the running lane does.
  uint32_t converge(Lane *lane, uint32_t location);
  const uint64_t *exchange(Lane *lane, uint32_t mask, uint64_t value);
  BlockVote wait_for_block(Lane *lane, bool predicate);
  void wait_for_grid(Lane *lane);
  void pause(Lane *lane);
  /// Leaves all lanes where they are, for good.
  [[noreturn]] void trap(Lane *lane);

 private:
  static constexpr uint32_t kMostPatience = 1 << 14;
  static constexpr uint32_t kLeastPatience = 1 << 6;
  static void run_lane();
  void run_ready();
  bool release_exchanges();
  bool pass_point();
  [[nodiscard]] uint32_t lanes_at(uint32_t location) const;
  [[nodiscard]] uint32_t lowest_lanes();
  [[nodiscard]] uint32_t some_lanes() const;
  void leave(Lane *lane);

  std::array<Context, kLanes> contexts_{};
  Context scheduler_ = nullptr;
  uint32_t ready_ = 0;
  uint32_t todo_ = 0;  ///< of the ready ones, those whose turn is yet to come
  uint32_t points_ = 0;
  uint32_t exchanges_ = 0;
  uint32_t barrier_ = 0;
  uint32_t grid_barrier_ = 0;
  uint32_t alive_ = 0;
  uint32_t count_;
  uint32_t passed_ = 0;                ///< points
  uint32_t patience_ = kMostPatience;  ///< how many of them lanes at a later location may wait for
  std::array<uint32_t, kLanes> location_{};
  std::array<uint32_t, kLanes> since_{};  ///< how many points were passed when it came to its own
  std::array<uint32_t, kLanes> mask_{};   ///< what a point is to give, or who takes part in the exchange
  std::array<uint64_t, kLanes> value_{};
  std::array<uint64_t, kLanes> results_{};
  std::array<Lane, kLanes> lanes_;
  const std::function<void()> *kernel_;
  BlockVotes *votes_;
};

inline Lane *current_lane() { return static_cast<Lane *>(current_place); }
extern Schedule chosen_schedule;
/// Counts what cannot happen for ever: lanes that end, and meetings of lanes.
extern uint64_t progress;
uint64_t draw();
[[noreturn]] void stop(const char *why);

}  // namespace cairn::emulator
