#include "gpu/testing/cuda/emulator.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/testing/cuda/devices.h"
#include "gpu/testing/emulated_warp.h"
#include "gpu/testing/shared_image.h"

namespace cairn::emulator {
namespace {

alignas(1024) uint8_t dynamic_memory[kMostDynamicShared];
size_t dynamic_size = 0;
bool is_cooperative = false;
std::span<uint8_t> shared_data;  ///< what is `__shared__` in the running launch

/// In threads: those that are there at once.
constexpr uint64_t kMostResident = 16'384;
/// Turns that a block has before another may begin.
constexpr uint64_t kSlice = 1 << 13;
uint64_t patience = uint64_t{1} << 30;
bool patience_ends = false;
bool trapped = false;  ///< a lane of the running launch has

uint64_t nanoseconds() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

/// The clocks of multiprocessors, one of which runs a block.
struct Clocks {
  std::vector<uint64_t> all;
  uint32_t running = 0;
  uint64_t since = 0;
};
Clocks clocks;
class OnProcessor {
 public:
  explicit OnProcessor(uint32_t number) {
    clocks.all.resize(processor_count());
    clocks.running = number;
    clocks.since = nanoseconds();
  }
  ~OnProcessor() { clocks.all[clocks.running] += nanoseconds() - clocks.since; }
  OnProcessor(const OnProcessor &) = delete;
  OnProcessor &operator=(const OnProcessor &) = delete;
};

enum class State : uint8_t { runs, waits_for_grid, ended };

/// The lanes of a block, kept from block to block with their stacks.
class Block {
 public:
  Block(const LaunchShape &shape, const std::function<void()> &kernel)
      : threads_(shape.block.x * shape.block.y * shape.block.z), stacks_(threads_) {
    for (uint32_t first = 0; first < threads_; first += kLanes) {
      EmulatedWarp &warp = warps_.emplace_back(stacks_, first, std::min(kLanes, threads_ - first), &kernel, &votes_);
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

  /// Until all lanes have ended, or wait for the grid, or for so many turns.
  State run(uint64_t turns) {
    for (uint64_t turn = 0; turn < turns; ++turn) {
      bool any = false;
      for (EmulatedWarp &warp : warps_) {
        any = warp.turn() || any;
        if (trapped) return State::runs;
      }
      if (any) continue;
      uint32_t alive = 0;
      uint32_t waits = 0;
      bool stuck = false;
      for (const EmulatedWarp &warp : warps_) {
        alive |= warp.alive();
        waits |= warp.at_grid_barrier();
        stuck = stuck || warp.alive() != (warp.at_barrier() | warp.at_grid_barrier());
      }
      if (alive == 0) return State::ended;
      if (stuck) stop("lanes wait for others of their warp that never come");
      bool passed = false;
      for (EmulatedWarp &warp : warps_) {
        passed = passed || warp.at_barrier() != 0;
        // Those that wait for the grid come to no barrier of the block.
        if (waits == 0) warp.pass_barrier();
      }
      if (waits != 0 && passed) stop("some lanes of a block wait for the block, others for the grid");
      if (waits != 0) return State::waits_for_grid;
      votes_.passed = votes_.come;
      votes_.come = {};
      ++progress;
    }
    return State::runs;
  }

  void pass_grid_barrier() {
    for (EmulatedWarp &warp : warps_) warp.pass_grid_barrier();
  }

 private:
  const uint32_t threads_;
  Stacks stacks_;
  BlockVotes votes_;
  std::deque<EmulatedWarp> warps_;
};

/// A launch's blocks, as far as they have begun. Those that take turns are resident; one that ends makes room for the
/// next, whose lanes get its stacks.
class Grid {
 public:
  Grid(const LaunchShape &shape, const std::function<void()> &kernel)
      : shape_(shape),
        kernel_(kernel),
        blocks_(uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z),
        room_(std::max<uint64_t>(1, kMostResident / (uint64_t{shape.block.x} * shape.block.y * shape.block.z))) {}

  void run() {
    if (shape_.cooperative && blocks_ > room_) stop("a cooperative launch has 16384 threads at most here");
    const SharedImage host(dynamic_memory, 0);
    // A block that ends within its first turns has never been put aside; of a cooperative launch each one is at once.
    while (begun_ < blocks_ && !trapped) {
      if (residents_.size() < room_) {
        begin_next();
        if (shape_.cooperative || trapped) continue;
      }
      if (residents_.size() > 1 || residents_.size() == room_) take_turns();
    }
    while (!residents_.empty() && !trapped) take_turns();
    if (put_aside_) host.put();
  }

 private:
  struct Resident {
    std::unique_ptr<Block> block;
    std::unique_ptr<SharedImage> shared;
    uint32_t processor = 0;
    State state = State::runs;
  };

  void begin_next() {
    Resident next;
    if (free_ != nullptr) {
      next.block = std::move(free_);
    } else {
      next.block = std::make_unique<Block>(shape_, kernel_);
    }
    const auto x = static_cast<unsigned>(begun_ % shape_.grid.x);
    const auto y = static_cast<unsigned>(begun_ / shape_.grid.x % shape_.grid.y);
    next.block->begin({x, y, static_cast<unsigned>(begun_ / shape_.grid.x / shape_.grid.y)});
    next.processor = static_cast<uint32_t>(begun_ % processor_count());
    ++begun_;
    ++progress;
    if (!shape_.cooperative) {
      const OnProcessor on(next.processor);
      next.state = next.block->run(kSlice);
    }
    if (next.state == State::ended) {
      free_ = std::move(next.block);
      return;
    }
    if (next.state == State::waits_for_grid) stop("a launch that is not cooperative waits for its grid");
    next.shared = std::make_unique<SharedImage>(dynamic_memory, shape_.shared);
    put_aside_ = true;
    residents_.push_back(std::move(next));
  }

  /// One each. Those of a cooperative launch are short: its blocks begin together.
  void take_turns() {
    const uint64_t before = progress;
    const uint64_t slice = shape_.cooperative ? 1 : kSlice;
    for (Resident &each : residents_) {
      if (each.state != State::runs) continue;
      each.shared->put();
      {
        const OnProcessor on(each.processor);
        each.state = each.block->run(slice);
      }
      if (trapped) return;
      each.shared->take();
      if (each.state == State::ended) free_ = std::move(each.block);
    }
    std::erase_if(residents_, [](const Resident &each) { return each.block == nullptr; });
    const auto waits = [](const Resident &each) { return each.state == State::waits_for_grid; };
    if (std::all_of(residents_.begin(), residents_.end(), waits)) {
      for (Resident &each : residents_) {
        if (!shape_.cooperative) stop("a launch that is not cooperative waits for its grid");
        each.block->pass_grid_barrier();
        each.state = State::runs;
      }
    }
    idle_ = progress == before ? idle_ + slice : 0;
    if (idle_ >= patience && !told_) tell();
  }

  void tell() {
    told_ = true;
    std::fprintf(
        stderr,
        "emulator: in %llu turns no lane has ended and none has met another: the %zu blocks that are there, of "
        "%llu, may be waiting for each other\n",
        static_cast<unsigned long long>(idle_), residents_.size(), static_cast<unsigned long long>(blocks_));
    if (patience_ends) std::abort();
  }

  const LaunchShape &shape_;
  const std::function<void()> &kernel_;
  const uint64_t blocks_;
  const uint64_t room_;
  uint64_t begun_ = 0;
  uint64_t idle_ = 0;  ///< turns without progress
  bool put_aside_ = false;
  bool told_ = false;
  std::deque<Resident> residents_;
  std::unique_ptr<Block> free_;
};

/// CAIRN_EMULATOR_SCHEDULE=random:SEED, CAIRN_EMULATOR_PATIENCE=TURNS, for programs that cannot call us.
void ask_environment() {
  if (const char *turns = std::getenv("CAIRN_EMULATOR_PATIENCE"); turns != nullptr) {
    set_patience(std::strtoull(turns, nullptr, 10), true);
  }
  const char *wanted = std::getenv("CAIRN_EMULATOR_SCHEDULE");
  if (wanted == nullptr || std::strncmp(wanted, "random", 6) != 0) return;
  set_schedule(Schedule::random, wanted[6] == ':' ? std::strtoull(wanted + 7, nullptr, 10) : 1);
}

}  // namespace

uint32_t converge(uint32_t location) { return current_lane()->warp->converge(current_lane(), location); }
BlockVote synchronise_block(bool predicate) { return current_lane()->warp->wait_for_block(current_lane(), predicate); }
void synchronise_grid() {
  if (!is_cooperative) stop("only a cooperative launch can wait for its grid: use cudaLaunchCooperativeKernel");
  current_lane()->warp->wait_for_grid(current_lane());
}
const uint64_t *exchange(uint32_t mask, uint64_t value) {
  return current_lane()->warp->exchange(current_lane(), mask, value);
}
void refuse(const char *what) { stop(what); }
void pause() { current_lane()->warp->pause(current_lane()); }
void trap() {
  trapped = true;
  current_lane()->warp->trap(current_lane());
}
void *dynamic_shared() { return dynamic_memory; }
size_t dynamic_shared_size() { return dynamic_size; }

Where where(const void *at) {
  const auto *const byte = static_cast<const uint8_t *>(at);
  const auto below = [byte](const void *begin) {
    return reinterpret_cast<uintptr_t>(byte) - reinterpret_cast<uintptr_t>(begin);
  };
  if (below(dynamic_memory) < kMostDynamicShared) return {Where::shared, below(dynamic_memory)};
  if (below(shared_data.data()) < shared_data.size()) {
    return {Where::shared, kMostDynamicShared + below(shared_data.data())};
  }
  const char here = 0;  // stacks grow downwards
  return {below(&here) < Stacks::kSize ? Where::stack : Where::other, 0};
}

uint32_t processor_count() {
  static const uint32_t count = [] {
    const char *wanted = std::getenv("CAIRN_EMULATOR_PROCESSORS");
    const int read = wanted == nullptr ? 1 : std::atoi(wanted);
    return static_cast<uint32_t>(read < 1 ? 1 : read);
  }();
  return count;
}
uint32_t processor() { return clocks.running; }
uint64_t cycles() { return clocks.all[clocks.running] + nanoseconds() - clocks.since; }

void set_patience(uint64_t turns, bool ends) {
  patience = turns;
  patience_ends = ends;
}

void launch(const LaunchShape &shape, const std::function<void()> &kernel) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  static const bool asked = (ask_environment(), true);
  (void)asked;
  const Triple block = shape.block;
  if (uint64_t{block.x} * block.y * block.z > 1024) stop("a block has 1024 threads at most");
  if (shape.shared > kMostDynamicShared) stop("a block has 227 KiB of dynamic shared memory at most");
  dynamic_size = shape.shared;
  shared_data = thread_local_data();
  is_cooperative = shape.cooperative;
  trapped = false;
  Grid(shape, kernel).run();
  current_place = nullptr;
  constexpr int kLaunchFailure = 719;  // CUDA's number
  if (trapped) break_device(kLaunchFailure);
}

}  // namespace cairn::emulator
