// Task: work that another core does meanwhile, if one is free, and the calling thread once it asks for it, if none was.
//
//   Task task;
//   task.begin([&] { sum = add_up(numbers); });
//   …                  // `sum` and `numbers` are not to be touched
//   task.finish();     // now they may be
//
// A process has one thread less for tasks than cores that it may run on; they are started when the first task begins,
// and end with the process; where a program can have one thread only (WebAssembly), none begins. Not for what is
// injected into programs. A Task belongs to one thread at a time. What the work throws, `finish` throws. One that is
// destroyed is not begun any more, or waited for.
#pragma once

#include <functional>
#ifdef __STDCPP_THREADS__
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/in_order.h"
#endif

namespace cairn {

#ifndef __STDCPP_THREADS__
class Task {
 public:
  Task() = default;
  Task(const Task &) = delete;
  Task &operator=(const Task &) = delete;

  [[nodiscard]] bool begun() const { return false; }
  bool begin(const std::function<void()> & /*work*/) { return false; }
  void finish() {}
};
#else
class Task {
 public:
  Task() = default;
  Task(const Task &) = delete;
  Task &operator=(const Task &) = delete;
  ~Task() {
    if (state_ && !take()) wait();
  }

  [[nodiscard]] bool begun() const { return state_ != nullptr; }
  /// It must not be begun. False, and nothing is begun, where too many are that nobody has asked for.
  bool begin(std::function<void()> work) {
    Pool &pool = Pool::of_process();
    const std::lock_guard<std::mutex> locked(pool.lock);
    if (pool.open >= kMostOpen || pool.threads.empty()) return false;
    ++pool.open;
    state_ = std::make_shared<State>();
    state_->work = std::move(work);
    pool.waiting.push_back(state_);
    pool.changed.notify_one();
    return true;
  }
  /// Returns when the work is done. It must be begun, and is not afterwards.
  void finish() {
    if (take()) {
      state_->run();
    } else {
      wait();
    }
    const std::shared_ptr<State> done = std::exchange(state_, nullptr);
    if (done->thrown) std::rethrow_exception(done->thrown);
  }

 private:
  static constexpr size_t kMostOpen = 64;
  struct State {
    enum class Is : uint8_t { waiting, taken, done };
    std::function<void()> work;
    Is is = Is::waiting;
    std::exception_ptr thrown;
    void run() {
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
    }
  };
  struct Pool {
    std::mutex lock;
    std::condition_variable changed;   ///< a task waits, or the process ends
    std::condition_variable finished;  ///< some task is done
    std::deque<std::shared_ptr<State> > waiting;
    size_t open = 0;  ///< tasks that are begun and not finished
    bool ending = false;
    std::vector<std::thread> threads;

    static Pool &of_process() {
      static Pool pool;
      return pool;
    }
    Pool() {
      const size_t wanted = usable_cores() - 1;
      threads.reserve(wanted);
      try {
        while (threads.size() < wanted) threads.emplace_back([this] { serve(); });
      } catch (const std::system_error &) {  // so many threads are not allowed
      }
    }
    ~Pool() {
      {
        const std::lock_guard<std::mutex> locked(lock);
        ending = true;
      }
      changed.notify_all();
      for (std::thread &each : threads) each.join();
    }
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    void serve() {
      std::unique_lock<std::mutex> locked(lock);
      while (true) {
        changed.wait(locked, [&] { return ending || !waiting.empty(); });
        if (ending) return;
        const std::shared_ptr<State> state = std::move(waiting.front());
        waiting.pop_front();
        if (state->is != State::Is::waiting) continue;
        state->is = State::Is::taken;
        locked.unlock();
        state->run();
        locked.lock();
        state->is = State::Is::done;
        finished.notify_all();
      }
    }
  };

  /// Whether nobody had begun with it; then it is the caller's.
  bool take() {
    Pool &pool = Pool::of_process();
    const std::lock_guard<std::mutex> locked(pool.lock);
    if (state_->is != State::Is::waiting) return false;
    state_->is = State::Is::taken;
    --pool.open;
    return true;
  }
  void wait() {
    Pool &pool = Pool::of_process();
    std::unique_lock<std::mutex> locked(pool.lock);
    pool.finished.wait(locked, [&] { return state_->is == State::Is::done; });
    --pool.open;
  }

  std::shared_ptr<State> state_;  ///< nullptr: not begun
};
#endif

}  // namespace cairn
