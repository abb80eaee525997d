// in_order: makes many things on all cores, and uses them one after the other in their order.
//
//   // The calls of each rank are counted on all cores, and added up in the order of the ranks.
//   in_order(ranks.size(), [&](size_t i) { return count(ranks[i]); }, [&](size_t, uint64_t calls) { sum += calls;
//   return true; });
//
// `make(i)` is called once for each i below `count`, on several threads at a time, and must not touch what others
// change; `use(i, made)` on the calling thread, i = 0 first, and answers whether to go on. What `make` throws is thrown
// where it would have been used. Two things a thread are there at most that were not used yet: memory does not grow
// with `count`. Where the system gives no thread, or a program can have one only (WebAssembly), all is made on the
// calling one. Returns false if `use` said stop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#ifdef __STDCPP_THREADS__
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>
#endif

namespace cairn {

#ifndef __STDCPP_THREADS__
inline size_t usable_cores() { return 1; }

template <typename Make, typename Use>
bool in_order(size_t count, const Make &make, const Use &use, size_t /*threads*/ = 1) {
  for (size_t i = 0; i < count; ++i) {
    if (!use(i, make(i))) return false;
  }
  return true;
}
#else
/// The cores that this process may run on: at least 1.
inline size_t usable_cores() { return std::max(1U, std::thread::hardware_concurrency()); }

template <typename Make, typename Use>
bool in_order(size_t count, const Make &make, const Use &use, size_t threads = usable_cores()) {
  using Made = std::invoke_result_t<const Make &, size_t>;
  struct Slot {
    std::optional<Made> made;
    std::exception_ptr thrown;
    [[nodiscard]] bool empty() const { return !made && !thrown; }
  };
  threads = std::min(threads, count);
  const auto alone = [&] {
    for (size_t i = 0; i < count; ++i) {
      if (!use(i, make(i))) return false;
    }
    return true;
  };
  if (threads < 2) return alone();

  std::mutex lock;
  std::condition_variable changed;
  std::vector<Slot> slots(2 * threads);  // of those that are made and not used, by i modulo their number
  size_t next = 0;                       // to be made
  size_t used = 0;
  bool stopped = false;
  const auto work = [&] {
    std::unique_lock<std::mutex> locked(lock);
    while (true) {
      changed.wait(locked, [&] { return stopped || next == count || next < used + slots.size(); });
      if (stopped || next == count) return;
      const size_t i = next++;
      locked.unlock();
      Slot slot;
      try {
        slot.made.emplace(make(i));
      } catch (...) {
        slot.thrown = std::current_exception();
      }
      locked.lock();
      slots[i % slots.size()] = std::move(slot);
      changed.notify_all();
    }
  };
  struct Joined {  // also where `use` throws
    std::mutex &lock;
    std::condition_variable &changed;
    bool &stopped;
    std::vector<std::thread> all;
    ~Joined() {
      {
        const std::lock_guard<std::mutex> locked(lock);
        stopped = true;
      }
      changed.notify_all();
      for (std::thread &each : all) each.join();
    }
  };
  Joined workers{lock, changed, stopped, {}};
  workers.all.reserve(threads);
  try {
    while (workers.all.size() < threads) workers.all.emplace_back(work);
  } catch (const std::system_error &) {  // so many threads are not allowed
    if (workers.all.empty()) return alone();
  }
  for (size_t i = 0; i < count; ++i) {
    std::unique_lock<std::mutex> locked(lock);
    Slot &slot = slots[i % slots.size()];
    changed.wait(locked, [&] { return !slot.empty(); });
    Slot taken = std::move(slot);
    slot = {};
    ++used;
    locked.unlock();
    changed.notify_all();
    if (taken.thrown) std::rethrow_exception(taken.thrown);
    if (!use(i, *std::move(taken.made))) return false;
  }
  return true;
}
#endif

}  // namespace cairn
