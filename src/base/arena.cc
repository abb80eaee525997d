#include "base/arena.h"

#include <bit>
#include <cstring>

namespace cairn {
namespace {

constexpr size_t kSmallest = 16;

/// Size classes: powers of two and, from 64 bytes up, the halves between them (96, 192, …), which keeps the
/// waste under a third.
struct SizeClass {
  int index;
  size_t size;
};

SizeClass size_class(size_t size) {
  if (size <= kSmallest) return {0, kSmallest};
  const size_t power = std::bit_ceil(size);
  const int bits = std::countr_zero(power);
  const size_t middle = power / 4 * 3;
  if (power >= 256 && size <= middle) return {(bits - 4) * 2 - 1, middle};
  return {(bits - 4) * 2, power};
}

class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag &flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }
  SpinLock(const SpinLock &) = delete;
  SpinLock &operator=(const SpinLock &) = delete;

 private:
  std::atomic_flag &flag_;
};

}  // namespace

Arena::Arena(void *memory, size_t size, size_t committed, size_t (*commit)(size_t wanted))
    : base_(reinterpret_cast<uintptr_t>(memory)), limit_(size), committed_(committed), commit_(commit) {}

void *Arena::allocate(size_t size) {
  if (size > limit_) return nullptr;
  const SizeClass wanted = size_class(size);
  if (wanted.index >= kClasses) return nullptr;
  const SpinLock lock(lock_);
  void *block = free_[wanted.index];
  if (block != nullptr) {
    free_[wanted.index] = free_[wanted.index]->next;
    std::memset(block, 0, wanted.size);
  } else {
    const size_t alignment = wanted.size >= 64 ? 64 : 16;
    const size_t start = (next_ + alignment - 1) / alignment * alignment;
    if (start > limit_ || wanted.size > limit_ - start) return nullptr;
    if (start + wanted.size > committed_) {
      if (commit_ != nullptr) committed_ = commit_(start + wanted.size);
      if (start + wanted.size > committed_) return nullptr;
    }
    next_ = start + wanted.size;
    block = reinterpret_cast<void *>(base_ + start);
  }
  used_ += wanted.size;
  if (used_ > peak_) peak_ = used_;
  return block;
}

void Arena::release(void *block, size_t size) {
  if (block == nullptr) return;
  const SizeClass given = size_class(size);
  const SpinLock lock(lock_);
  auto *entry = static_cast<Free *>(block);
  entry->next = free_[given.index];
  free_[given.index] = entry;
  used_ -= given.size;
}

}  // namespace cairn
