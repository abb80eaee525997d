#include "gpu/testing/emulated_warp.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

namespace cairn::emulator {

__thread Place *current_place;
Schedule chosen_schedule = Schedule::lowest_location;
uint64_t progress = 0;

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kEach = Stacks::kSize + kPage;
uint64_t random_state = 1;

}  // namespace

uint64_t draw() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

void set_schedule(Schedule wanted, uint64_t seed) {
  chosen_schedule = wanted;
  random_state = seed * 0x9e3779b97f4a7c15 | 1;
}

void stop(const char *why) {
  std::fprintf(stderr, "emulator: %s\n", why);
  std::abort();
}

Stacks::Stacks(uint32_t count) : bytes_(count * kEach) {
  void *at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) stop("there is no memory for the stacks of so many threads");
  memory_ = static_cast<uint8_t *>(at);
  for (uint32_t i = 0; i < count; ++i) {
    if (mprotect(memory_ + i * kEach, kPage, PROT_NONE) != 0)
      stop("there is no memory for the stacks of so many threads");
  }
}

Stacks::~Stacks() { munmap(memory_, bytes_); }

void *Stacks::top(uint32_t number) const {
  // Stacks that all began at the same place of a page would share a few sets of the first cache.
  constexpr size_t kLine = 64;
  const size_t shift = number * 5 * kLine % kPage;
  return memory_ + (size_t{number} + 1) * kEach - shift;
}

EmulatedWarp::EmulatedWarp(const Stacks &stacks, uint32_t first, uint32_t lanes, const std::function<void()> *kernel,
                           BlockVotes *votes)
    : count_(lanes), kernel_(kernel), votes_(votes) {
  for (uint32_t i = 0; i < lanes; ++i) {
    lanes_[i].warp = this;
    lanes_[i].lane = i;
    contexts_[i] = make_context(stacks.top(first + i), Stacks::kSize - kPage, run_lane);
  }
}

/// A lane's stack: it runs kernel after kernel, and is left for good in between.
void EmulatedWarp::run_lane() {
  for (;;) {
    Lane *lane = current_lane();
    EmulatedWarp &warp = *lane->warp;
    (*warp.kernel_)();
    const uint32_t own = uint32_t{1} << lane->lane;
    ++progress;
    warp.alive_ &= ~own;
    warp.ready_ &= ~own;
    warp.leave(lane);
  }
}

void EmulatedWarp::begin() {
  alive_ = count_ == kLanes ? ~uint32_t{0} : (uint32_t{1} << count_) - 1;
  patience_ = kMostPatience;
  ready_ = alive_;
}

/// To the next lane whose turn it is, or to the scheduler. Comes back when it is this lane's.
void EmulatedWarp::leave(Lane *lane) {
  Context to = scheduler_;
  if (todo_ != 0) {
    const auto next = static_cast<uint32_t>(std::countr_zero(todo_));
    todo_ &= todo_ - 1;
    current_place = &lanes_[next];
    to = contexts_[next];
  }
  switch_context(&contexts_[lane->lane], to);
}

/// Lets every lane that can run do so until it waits.
void EmulatedWarp::run_ready() {
  if (ready_ == 0) return;
  todo_ = ready_ & (ready_ - 1);
  const auto first = static_cast<uint32_t>(std::countr_zero(ready_));
  current_place = &lanes_[first];
  switch_context(&scheduler_, contexts_[first]);
}

bool EmulatedWarp::turn() {
  run_ready();
  if (exchanges_ != 0 && release_exchanges()) return true;
  return (points_ != 0 && pass_point()) || ready_ != 0;
}

bool EmulatedWarp::release_exchanges() {
  for (uint32_t rest = exchanges_; rest != 0; rest &= rest - 1) {
    const uint32_t mask = mask_[static_cast<uint32_t>(std::countr_zero(rest))];
    uint32_t here = 0;
    for (uint32_t others = exchanges_; others != 0; others &= others - 1) {
      const auto other = static_cast<uint32_t>(std::countr_zero(others));
      if (mask_[other] == mask) here |= uint32_t{1} << other;
    }
    if ((here & mask & alive_) != (mask & alive_)) continue;
    results_.fill(0);
    for (uint32_t those = here; those != 0; those &= those - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(those));
      results_[lane] = value_[lane];
    }
    exchanges_ &= ~here;
    ready_ |= here;
    ++progress;
    return true;
  }
  return false;
}

/// Of the lanes at points, those at one location.
uint32_t EmulatedWarp::lanes_at(uint32_t location) const {
  uint32_t mask = 0;
  for (uint32_t rest = points_; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    mask |= location_[lane] == location ? uint32_t{1} << lane : 0;
  }
  return mask;
}

/// Those at the lowest location, so that lanes that left a loop wait for the others; but not for ever, since these may
/// spin until those have done something. A warp that was seen to spin so is not waited for that long again.
uint32_t EmulatedWarp::lowest_lanes() {
  const auto first = static_cast<uint32_t>(std::countr_zero(points_));
  if (passed_++ % kLeastPatience == 0) {
    uint32_t oldest = first;
    for (uint32_t rest = points_; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
      if (passed_ - since_[lane] > passed_ - since_[oldest]) oldest = lane;
    }
    if (passed_ - since_[oldest] >= patience_) {
      patience_ = kLeastPatience;
      return lanes_at(location_[oldest]);
    }
  }
  uint32_t chosen = location_[first];
  uint32_t mask = 0;
  for (uint32_t rest = points_; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    if (location_[lane] < chosen) {
      chosen = location_[lane];
      mask = 0;
    }
    mask |= location_[lane] == chosen ? uint32_t{1} << lane : 0;
  }
  return mask;
}

uint32_t EmulatedWarp::some_lanes() const {
  uint32_t rest = points_;
  for (auto skip = draw() % static_cast<uint32_t>(std::popcount(points_)); skip != 0; --skip) rest &= rest - 1;
  const uint32_t chosen = location_[static_cast<uint32_t>(std::countr_zero(rest))];
  const uint32_t mask = lanes_at(chosen);
  // A kernel's begin, location 0, has all lanes, as on hardware.
  if (chosen == 0 || draw() % 4 != 0) return mask;
  const auto some = static_cast<uint32_t>(draw());
  return (mask & some) != 0 ? mask & some : mask;
}

bool EmulatedWarp::pass_point() {
  const uint32_t mask = chosen_schedule == Schedule::random ? some_lanes() : lowest_lanes();
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) mask_[static_cast<uint32_t>(std::countr_zero(rest))] = mask;
  points_ &= ~mask;
  ready_ |= mask;
  return true;
}

void EmulatedWarp::pass_barrier() {
  ready_ |= barrier_;
  barrier_ = 0;
}
void EmulatedWarp::pass_grid_barrier() {
  ready_ |= grid_barrier_;
  grid_barrier_ = 0;
}

uint32_t EmulatedWarp::converge(Lane *lane, uint32_t location) {
  const uint32_t own = uint32_t{1} << lane->lane;
  location_[lane->lane] = location;
  since_[lane->lane] = passed_;
  ready_ &= ~own;
  points_ |= own;
  leave(lane);
  return mask_[lane->lane];
}

const uint64_t *EmulatedWarp::exchange(Lane *lane, uint32_t mask, uint64_t value) {
  const uint32_t own = uint32_t{1} << lane->lane;
  mask_[lane->lane] = mask;
  value_[lane->lane] = value;
  ready_ &= ~own;
  exchanges_ |= own;
  leave(lane);
  return results_.data();
}

BlockVote EmulatedWarp::wait_for_block(Lane *lane, bool predicate) {
  const uint32_t own = uint32_t{1} << lane->lane;
  ready_ &= ~own;
  barrier_ |= own;
  ++votes_->come.all;
  votes_->come.yes += predicate ? 1 : 0;
  leave(lane);
  return votes_->passed;
}

void EmulatedWarp::wait_for_grid(Lane *lane) {
  const uint32_t own = uint32_t{1} << lane->lane;
  ready_ &= ~own;
  grid_barrier_ |= own;
  leave(lane);
}

void EmulatedWarp::trap(Lane *lane) {
  todo_ = 0;
  for (;;) leave(lane);
}

void EmulatedWarp::pause(Lane *lane) {
  constexpr uint32_t kEvery = 64;
  if (++lane->pauses % kEvery == 0) leave(lane);
}

}  // namespace cairn::emulator
