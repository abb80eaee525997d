// SpinLock: for slow paths that must allocate nothing, since some run inside the program's free().
//
// Gives the processor away after a while: ranks often outnumber cores. Zero is unlocked.
#pragma once

#include <sched.h>

#include <atomic>

namespace cairn::recorder {

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; flag_.exchange(true, std::memory_order_acquire);) {
      if (++tries % 64 == 0) sched_yield();
    }
  }
  void unlock() { flag_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> flag_{false};
};

class SpinGuard {
 public:
  explicit SpinGuard(SpinLock &lock, bool needed = true) : lock_(needed ? &lock : nullptr) {
    if (lock_ != nullptr) lock_->lock();
  }
  ~SpinGuard() {
    if (lock_ != nullptr) lock_->unlock();
  }
  SpinGuard(const SpinGuard &) = delete;
  SpinGuard &operator=(const SpinGuard &) = delete;

 private:
  SpinLock *lock_;
};

}  // namespace cairn::recorder
