// The host's end of a launch's ring (drain.h), and the thread that empties the rings of all launches under way.
//
// A DrainEnd belongs to a launch's Memory and outlives the kernel. The thread begins with the first launch and stays;
// it polls while launches are under way and sleeps while there are none. Nothing here calls the GPU's run-time library.
// Host only.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "drain.h"
#include "gather.h"

namespace cairn::gpu {

/// One thread at a time.
class DrainEnd {
 public:
  /// For a launch of so many traced warps, whose kernel has not begun. Slots are numbered on from launch to launch.
  void begin(DrainSlot *slots, uint32_t *consumed, uint32_t count, uint32_t warps) {
    slots_ = slots;
    consumed_ = consumed;
    count_ = count;
    words_.assign(warps, {});
    total_ = 0;
  }
  /// What the kernel is given, with the ring's memory as the device sees it.
  [[nodiscard]] DrainRing ring(DrainSlot *slots, const uint32_t *consumed) const {
    return {slots, consumed, count_, taken_, taken_, kDrainWaits, 0};
  }

  /// Takes what was published. False: nothing was, or there are `most` words already: then the kernel finds the ring
  /// full.
  bool take(uint64_t most = kMostWords) {
    const uint32_t before = taken_;
    while (total_ < most) {
      DrainSlot &slot = slots_[taken_ & (count_ - 1)];
      if (__atomic_load_n(&slot.sequence, __ATOMIC_ACQUIRE) != taken_ + 1) break;
      if (slot.warp < words_.size()) {
        std::vector<uint32_t> &to = words_[slot.warp];
        to.insert(to.end(), slot.data, slot.data + std::min(slot.words, kDrainWords));
        total_ += slot.words;
      }
      __atomic_store_n(consumed_, ++taken_, __ATOMIC_RELEASE);
    }
    return taken_ != before;
  }

  /// Of how many slots the kernel claimed, all were taken.
  [[nodiscard]] bool has_all(uint32_t claimed) const { return taken_ == claimed; }

  /// Whole streams: what was taken, then what was left in warps' chunks when the kernel had ended. `records` is of
  /// `left`, then of what is given.
  std::vector<uint32_t> join(const std::vector<uint32_t> &left, WarpRecord *records) {
    std::vector<uint32_t> all;
    all.reserve(total_ + left.size());
    for (size_t i = 0; i < words_.size(); ++i) {
      WarpRecord &record = records[i];
      const auto own = left.begin() + record.offset;
      record.offset = static_cast<uint32_t>(all.size());
      all.insert(all.end(), words_[i].begin(), words_[i].end());
      all.insert(all.end(), own, own + record.words);
      record.words = static_cast<uint32_t>(all.size()) - record.offset;
      words_[i] = {};
    }
    return all;
  }

 private:
  static constexpr uint64_t kMostWords = uint64_t{1} << 31;  // records count them in 32 bits
  DrainSlot *slots_ = nullptr;
  uint32_t *consumed_ = nullptr;
  uint32_t count_ = 0;
  uint32_t taken_ = 0;
  uint64_t total_ = 0;
  std::vector<std::vector<uint32_t>> words_;  ///< by traced warp
};

/// Any thread.
class Drainer {
 public:
  static Drainer &one() {
    static auto *const drainer = new Drainer;  // outlives all that may launch
    return *drainer;
  }

  void begin(DrainEnd *end) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!started_) std::thread([this] { work(); }).detach();
    started_ = true;
    ends_.push_back(end);
    changed_.notify_all();
  }
  /// The kernel has ended: takes what is left.
  void end(DrainEnd *end) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_.erase(std::remove(ends_.begin(), ends_.end(), end), ends_.end());
    end->take(UINT64_MAX);
  }

 private:
  void work() {
    for (uint32_t idle = 0;;) {
      bool any = false;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return !ends_.empty(); });
        for (DrainEnd *end : ends_) any = end->take() || any;
      }
      idle = any ? 0 : std::min(idle + 1, 100u);
      std::this_thread::sleep_for(std::chrono::microseconds(any ? 0 : 2 * idle));
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<DrainEnd *> ends_;
  bool started_ = false;
};

}  // namespace cairn::gpu
