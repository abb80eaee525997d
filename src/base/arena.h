// Arena: all memory that a recording rank uses, out of one mapping with a hard limit.
//
// Owned by the recorder; also used, over anonymous memory, by tests, benches and the simulator. It never
// touches the program's heap (the recorder interposes malloc) and never throws: `allocate` gives
// nullptr once the limit is reached, and the caller degrades. Blocks that are given back are reused by
// power-of-two size class; larger ones are cut when nothing else is left, and stay so. The mapping may be a shared file
// mapping: it then survives SIGKILL, and whoever maps the file at the same address (`base()`) finds every pointer in it
// valid. Hence: no vtables, no std containers, no pointers to outside in what is placed here.
//
// Why not malloc, or a mapping a structure: the recorder interposes malloc, may be called while a thread is in it, and
// would shift the program's own addresses; memory that is not in one place can neither be limited nor be found again
// after a kill. Why classes by powers of two and not a buddy or slab allocator: structures here grow by doubling, so
// that what one gives back is what the next one wants; coalescing neighbours would touch cold lines in every release to
// serve a case, the larger block when all is used, that cutting serves from the other side.
//
// Threads: `allocate` takes a spin lock, `release` none, so that a thread of low priority which gives back thousands of
// blocks never holds up the program's; one thread's own structures should grow by chunks.
// Cost: about 10 ns a call, and zeroing what is used again; the kernel backs pages on first touch, so an unused limit
// costs nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace cairn {

class Arena {
 public:
  enum class Fresh : uint8_t {
    zeroed,
    as_it_is,  ///< whatever it held: blocks are zeroed as they are handed out
  };
  /// Takes `size` bytes at `memory` (page aligned); the Arena itself lives elsewhere or at the front of that very
  /// memory.
  Arena(void *memory, size_t size, Fresh fresh = Fresh::zeroed) : Arena(memory, size, size, nullptr) { fresh_ = fresh; }
  /// Of zeroed memory, only the first `committed` bytes can be used yet; `commit(n)` makes at least n bytes usable and
  /// gives how many are, less than n if it cannot. For file mappings, where touching a page that the disk has no room
  /// for would kill the process.
  Arena(void *memory, size_t size, size_t committed, size_t (*commit)(size_t wanted));
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// Where memory is about to be given back: waits for that. False if nothing can be hoped for.
  void wait_with(bool (*wait)()) { wait_ = wait; }

  /// `size` bytes aligned to 16 (64 for sizes of 64 and more), zeroed; nullptr when the limit is reached.
  void *allocate(size_t size);
  /// Gives back what `allocate(size)` gave. nullptr is allowed.
  void release(void *block, size_t size);
  /// Zeroes the large blocks that were given back, so that an `allocate` which gets one need not (a millisecond for a
  /// few megabytes). For a thread that nobody waits for.
  void clean();

  /// For a recording that is over: pages in which nothing is in use any more are handed to `gone`, run by run, and
  /// never handed out again. `free_in_page`: room for a number a page of `limit()`, all 0.
  void surrender(uint32_t *free_in_page, void (*gone)(void *pages, size_t bytes));

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
  [[nodiscard]] size_t used() const { return used_.load(std::memory_order_relaxed); }
  /// The most that `used()` ever was.
  [[nodiscard]] size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  /// Bytes that were never handed out. When there are none only what was given back serves.
  [[nodiscard]] size_t untouched() const { return limit_ - next_.load(std::memory_order_relaxed); }
  /// Bytes of the others, whether they were given back or not.
  [[nodiscard]] size_t touched() const { return limit_ - untouched(); }
  /// Those of them that take memory now: all that `surrender` did not hand over.
  [[nodiscard]] size_t resident() const { return touched() - surrendered_; }
  /// How often no block of the right size was left: a larger one was cut, or none was there.
  [[nodiscard]] uint32_t shortages() const { return shortages_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kClasses = 48;
  static constexpr size_t kLarge = size_t{64} << 10;
  static constexpr size_t kPage = 4096;
  struct Free {
    Free *next;
  };
  /// Blocks that were given back: pushed by anyone, popped by who holds the lock (so none comes back meanwhile).
  using FreeList = std::atomic<Free *>;
  static void push(FreeList &list, void *block);
  static Free *pop(FreeList &list);
  void *try_allocate(int index, size_t size);
  Free *cut_larger(int index, size_t size);

  uintptr_t base_;
  size_t limit_;
  size_t committed_;
  size_t (*commit_)(size_t wanted);
  bool (*wait_)() = nullptr;
  Fresh fresh_ = Fresh::zeroed;
  size_t surrendered_ = 0;
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> used_ = 0;
  std::atomic<size_t> peak_ = 0;
  std::atomic<uint32_t> shortages_ = 0;
  FreeList free_[kClasses] = {};
  FreeList clean_[kClasses] = {};  ///< large ones, zero but for the first word
  std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
};

}  // namespace cairn
