// Arena: all memory that a recording rank uses, out of one mapping with a hard limit.
//
// Owned by the recorder; also used, over anonymous memory, by tests, benches and the simulator. It never
// touches the program's heap (the recorder interposes malloc) and never throws: `allocate` gives
// nullptr once the limit is reached, and the caller degrades. Blocks that are given back are reused by
// power-of-two size class. The mapping may be a shared file mapping: it then survives SIGKILL, and whoever maps
// the file at the same address (`base()`) finds every pointer in it valid. Hence: no vtables, no std
// containers, no pointers to outside in what is placed here.
//
// Threads: `allocate` and `release` take a spin lock; one thread's own structures should grow by chunks.
// Cost: about 10 ns a call; the kernel backs pages on first touch, so an unused limit costs nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace cairn {

class Arena {
 public:
  /// Takes `size` bytes at `memory` (page aligned, zeroed); the Arena itself lives elsewhere or at
  /// the front of that very memory.
  Arena(void *memory, size_t size) : Arena(memory, size, size, nullptr) {}
  /// Only the first `committed` bytes can be used yet; `commit(n)` makes at least n bytes usable and gives how many
  /// are, less than n if it cannot. For file mappings, where touching a page that the disk has no room for would kill
  /// the process.
  Arena(void *memory, size_t size, size_t committed, size_t (*commit)(size_t wanted));
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// `size` bytes aligned to 16 (64 for sizes of 64 and more), zeroed; nullptr when the limit is reached.
  void *allocate(size_t size);
  /// Gives back what `allocate(size)` gave. nullptr is allowed.
  void release(void *block, size_t size);

  template <typename T>
  T *allocate_array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T *>(allocate(count * sizeof(T)));
  }
  template <typename T>
  void release_array(T *array, size_t count) {
    release(array, count * sizeof(T));
  }
  /// Constructs a T, or gives nullptr.
  template <typename T, typename... Args>
  T *create(Args &&...args) {
    void *memory = allocate(sizeof(T));
    return memory == nullptr ? nullptr : new (memory) T(static_cast<Args &&>(args)...);
  }

  [[nodiscard]] uintptr_t base() const { return base_; }
  [[nodiscard]] size_t limit() const { return limit_; }
  /// Bytes handed out and not given back, rounded up to size classes.
  [[nodiscard]] size_t used() const { return used_; }
  /// The most that `used()` ever was.
  [[nodiscard]] size_t peak() const { return peak_; }

 private:
  static constexpr int kClasses = 48;
  struct Free {
    Free *next;
  };
  uintptr_t base_;
  size_t limit_;
  size_t committed_;
  size_t (*commit_)(size_t wanted);
  size_t next_ = 0;
  size_t used_ = 0;
  size_t peak_ = 0;
  Free *free_[kClasses] = {};
  std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
};

}  // namespace cairn
