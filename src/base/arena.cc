#include "base/arena.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace cairn {
namespace {

constexpr size_t kSmallest = 16;
constexpr size_t kAligned = 64;  ///< blocks from this size up are aligned to it, smaller ones to 16

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

size_t size_of(int index) {
  const int bits = (index + 1) / 2 + 4;
  return index % 2 == 0 ? size_t{1} << bits : (size_t{1} << bits) / 4 * 3;
}

/// The largest class whose blocks have `most` bytes at most.
size_t largest_below(size_t most) {
  const size_t power = std::bit_floor(most);
  const size_t middle = power / 2 * 3;
  return middle <= most && size_class(middle).size == middle ? middle : power;
}

class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag &flag) : flag_(flag) {
    for (int tries = 0; flag_.test_and_set(std::memory_order_acquire);) {
      if (++tries % 64 == 0) sched_yield();
    }
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }
  SpinLock(const SpinLock &) = delete;
  SpinLock &operator=(const SpinLock &) = delete;

 private:
  std::atomic_flag &flag_;
};

/// Calls act(page, bytes of it) for each page that the `size` bytes at `at` from a page's begin lie in.
template <typename Act>
void each_page(size_t at, size_t size, size_t page, Act act) {
  for (size_t done = 0; done < size;) {
    const size_t part = std::min(size - done, page - (at + done) % page);
    act((at + done) / page, part);
    done += part;
  }
}

}  // namespace

Arena::Arena(void *memory, size_t size, size_t committed, size_t (*commit)(size_t wanted))
    : base_(reinterpret_cast<uintptr_t>(memory)), limit_(size), committed_(committed), commit_(commit) {}

void Arena::push(FreeList &list, void *block) {
  auto *entry = static_cast<Free *>(block);
  Free *first = list.load(std::memory_order_relaxed);
  do {
    entry->next = first;
  } while (!list.compare_exchange_weak(first, entry, std::memory_order_release, std::memory_order_relaxed));
}

Arena::Free *Arena::pop(FreeList &list) {
  Free *first = list.load(std::memory_order_acquire);
  while (first != nullptr &&
         !list.compare_exchange_weak(first, first->next, std::memory_order_acquire, std::memory_order_acquire)) {
  }
  return first;
}

void *Arena::allocate(size_t size) {
  if (size > limit_) return nullptr;
  const SizeClass wanted = size_class(size);
  if (wanted.index >= kClasses) return nullptr;
  for (;;) {
    void *block = try_allocate(wanted.index, wanted.size);
    if (block != nullptr || wait_ == nullptr || !wait_()) return block;
  }
}

void *Arena::try_allocate(int index, size_t size) {
  void *block = nullptr;
  size_t dirty = 0;
  {
    const SpinLock lock(lock_);
    if ((block = pop(clean_[index])) != nullptr) {
      dirty = sizeof(Free);
    } else if ((block = pop(free_[index])) != nullptr) {
      dirty = size;
    } else {
      const size_t alignment = size >= kAligned ? kAligned : kSmallest;
      const size_t start = (next_.load(std::memory_order_relaxed) + alignment - 1) / alignment * alignment;
      bool fits = start <= limit_ && size <= limit_ - start;
      if (fits && start + size > committed_) {
        if (commit_ != nullptr) committed_ = commit_(start + size);
        fits = start + size <= committed_;
      }
      if (fits) {
        next_.store(start + size, std::memory_order_relaxed);
        block = reinterpret_cast<void *>(base_ + start);
        if (fresh_ == Fresh::as_it_is) dirty = size;
      } else {
        shortages_.fetch_add(1, std::memory_order_relaxed);
        if ((block = cut_larger(index, size)) == nullptr) return nullptr;
        dirty = size;
      }
    }
    const size_t used = used_.fetch_add(size, std::memory_order_relaxed) + size;
    if (used > peak()) peak_.store(used, std::memory_order_relaxed);
  }
  std::memset(block, 0, dirty);
  return block;
}

/// With the lock held: the front of the smallest block that is larger; the rest goes to where it fits.
Arena::Free *Arena::cut_larger(int index, size_t size) {
  Free *block = nullptr;
  int larger = index;
  while (block == nullptr && ++larger < kClasses) {
    block = pop(free_[larger]);
    if (block == nullptr) block = pop(clean_[larger]);
  }
  if (block == nullptr) return nullptr;
  auto *at = reinterpret_cast<uint8_t *>(block) + size;
  for (size_t left = size_of(larger) - size; left != 0;) {
    const size_t to_aligned = kAligned - reinterpret_cast<uintptr_t>(at) % kAligned;
    const size_t part = largest_below(to_aligned == kAligned ? left : std::min(left, to_aligned));
    push(free_[size_class(part).index], at);
    at += part;
    left -= part;
  }
  return block;
}

void Arena::release(void *block, size_t size) {
  if (block == nullptr) return;
  const SizeClass given = size_class(size);
  push(free_[given.index], block);
  used_.fetch_sub(given.size, std::memory_order_relaxed);
}

void Arena::clean() {
  for (int index = size_class(kLarge).index; index < kClasses; ++index) {
    Free *block = nullptr;
    {
      const SpinLock lock(lock_);
      block = free_[index].exchange(nullptr, std::memory_order_acquire);
    }
    while (block != nullptr) {
      Free *next = block->next;
      std::memset(static_cast<void *>(block), 0, size_of(index));
      push(clean_[index], block);
      block = next;
    }
  }
}

void Arena::surrender(uint32_t *free_in_page, void (*gone)(void *pages, size_t bytes)) {
  const SpinLock lock(lock_);
  const auto place = [this](const Free *block) { return reinterpret_cast<uintptr_t>(block) - base_; };
  const auto each_list = [this](auto act) {
    for (int index = 0; index < kClasses; ++index) {
      act(free_[index], size_of(index));
      act(clean_[index], size_of(index));
    }
  };
  each_list([&](FreeList &list, size_t size) {
    for (const Free *block = list.load(); block != nullptr; block = block->next) {
      each_page(place(block), size, kPage,
                [&](size_t page, size_t bytes) { free_in_page[page] += static_cast<uint32_t>(bytes); });
    }
  });
  // The lists lead through the blocks: those go first that lie in such a page, if only with a part of them.
  each_list([&](FreeList &list, size_t size) {
    Free *block = list.exchange(nullptr);
    while (block != nullptr) {
      Free *next = block->next;
      bool stays = true;
      each_page(place(block), size, kPage,
                [&](size_t page, size_t /*bytes*/) { stays = stays && free_in_page[page] != kPage; });
      if (stays) push(list, block);
      block = next;
    }
  });
  const size_t pages = next_.load(std::memory_order_relaxed) / kPage;
  for (size_t page = 0; page < pages;) {
    size_t end = page;
    while (end < pages && free_in_page[end] == kPage) ++end;
    if (end != page) gone(reinterpret_cast<void *>(base_ + page * kPage), (end - page) * kPage);
    surrendered_ += (end - page) * kPage;
    page = end + 1;
  }
}

}  // namespace cairn
