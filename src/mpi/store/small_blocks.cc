#include "mpi/store/small_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace cairn::recorder {
namespace {

constexpr size_t kUnit = 16;          // what blocks are multiples of, and aligned to
constexpr size_t kLargest = 512;      // larger ones are few
constexpr size_t kPiece = 64 << 10;   // holds blocks of one size
constexpr size_t kSpace = 4UL << 30;  // of addresses, which take no memory, nor count as such, until pieces are used
constexpr size_t kPieces = kSpace / kPiece;
constexpr size_t kMapped = 16 << 10;        // from here on blocks are the kernel's
constexpr size_t kHuge = 2UL << 20;         // a page as the processor's tables of addresses have it one level up
constexpr size_t kOpened = kHuge / kPiece;  // pieces that are made usable at once
constexpr size_t kFewPieces = 2 * kOpened;  // where one more page may be half as much as there is

struct Block {
  Block *next;
};

/// In front of a block that is no small one.
struct Front {
  alignas(kUnit) size_t bytes;  ///< that it took
  bool mapped;                  ///< from the kernel; else it is malloc's
};
static_assert(sizeof(Front) == kUnit);

/// Bytes that the recorder's blocks take, and the most that they took since somebody began to count.
std::atomic<size_t> held{0};
std::atomic<size_t> most{0};

void take_bytes(size_t bytes) {
  const size_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (now > most.load(std::memory_order_relaxed)) most.store(now, std::memory_order_relaxed);
}

void give_back_bytes(size_t bytes) { held.fetch_sub(bytes, std::memory_order_relaxed); }

/// Of the scope in progress, and of those whose blocks outlived them. Written by the thread that holds the scope; other
/// threads only ask whether an address lies in it.
struct Space {
  std::atomic<uintptr_t> base{0};
  std::atomic<bool> taken{false};
  size_t pieces = 0;  ///< in use
  size_t living = 0;
  Block *free[kLargest / kUnit + 1] = {};
  uint8_t *fresh[kLargest / kUnit + 1] = {};  ///< the rest of the last piece of that size
  uint8_t *end[kLargest / kUnit + 1] = {};
  uint8_t units[kPieces] = {};  ///< of the blocks in a piece
};
Space space;

constinit thread_local bool holds_scope __attribute__((tls_model("initial-exec"))) = false;

bool in_space(const void *block) {
  const uintptr_t base = space.base.load(std::memory_order_relaxed);
  return reinterpret_cast<uintptr_t>(block) - base < kSpace && base != 0;
}

/// What needs more than the first few gets huge pages, if the kernel has any: thousands of pages are not to be asked
/// for one by one, nor looked up so.
bool open_pieces(uint8_t *first) {
  if (mprotect(first, kHuge, PROT_READ | PROT_WRITE) != 0) return false;
  if (space.pieces >= kFewPieces) madvise(first, kHuge, MADV_HUGEPAGE);
  return true;
}

[[gnu::noinline]] void *cut(size_t units) {
  const size_t bytes = units * kUnit;
  if (space.fresh[units] == nullptr || static_cast<size_t>(space.end[units] - space.fresh[units]) < bytes) {
    if (space.pieces == kPieces) return nullptr;
    uint8_t *piece = reinterpret_cast<uint8_t *>(space.base.load(std::memory_order_relaxed)) + space.pieces * kPiece;
    if (space.pieces % kOpened == 0 && !open_pieces(piece)) return nullptr;
    space.units[space.pieces] = static_cast<uint8_t>(units);
    space.fresh[units] = piece;
    space.end[units] = space.fresh[units] + kPiece;
    ++space.pieces;
    take_bytes(kPiece);
  }
  void *block = space.fresh[units];
  space.fresh[units] += bytes;
  ++space.living;
  return block;
}

void *take(size_t size) {
  const size_t units = size == 0 ? 1 : (size + kUnit - 1) / kUnit;
  Block *block = space.free[units];
  if (block == nullptr) return cut(units);
  space.free[units] = block->next;
  ++space.living;
  return block;
}

void give_back(void *block) {
  // Another thread must not touch the lists: what it ends keeps its place.
  if (!holds_scope) return;
  const size_t piece = (reinterpret_cast<uintptr_t>(block) - space.base.load(std::memory_order_relaxed)) / kPiece;
  auto *freed = static_cast<Block *>(block);
  Block *&list = space.free[space.units[piece]];
  freed->next = list;
  list = freed;
  --space.living;
}

/// In steps: to take the pages of some tens of megabytes away takes milliseconds, during which the program's threads
/// would wait for the kernel's lock of this process's memory.
void give_to_kernel(void *memory, size_t used, size_t bytes) {
  constexpr size_t kStep = 2 * kHuge;
  for (size_t at = 0; used > kStep && at < used; at += kStep) {
    madvise(static_cast<uint8_t *>(memory) + at, std::min(kStep, used - at), MADV_DONTNEED);
  }
  munmap(memory, bytes);
}

void *of_kernel(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Large blocks that were given back in the scope, for the next ones: a page that is asked for anew costs as much as
/// some thousand instructions, and tables of the same sizes are made again and again. They count as held, but never
/// make more of that than there would be without them, from kFewHeld on. Only the thread that holds the scope comes
/// here.
class KeptBlocks {
 public:
  /// Nothing if none fits well.
  Front *take(size_t bytes) {
    size_t best = count_;
    for (size_t i = 0; i < count_; ++i) {
      if (blocks_[i]->bytes < bytes || blocks_[i]->bytes / 2 > bytes) continue;
      if (best == count_ || blocks_[i]->bytes < blocks_[best]->bytes) best = i;
    }
    return best == count_ ? nullptr : without(best);
  }
  /// Before so many bytes are asked of the kernel.
  void make_way(size_t bytes) {
    const size_t most_held = std::max(most.load(std::memory_order_relaxed), kFewHeld);
    while (count_ != 0 && held.load(std::memory_order_relaxed) + bytes > most_held) end(without(count_ - 1));
  }
  bool keep(Front *front) {
    if (count_ == kMostKept || bytes_ + front->bytes > kFewHeld) return false;
    blocks_[count_++] = front;
    bytes_ += front->bytes;
    return true;
  }
  void end_all() {
    while (count_ != 0) end(without(count_ - 1));
  }

 private:
  static constexpr size_t kMostKept = 32;
  static constexpr size_t kFewHeld = 8UL << 20;
  static void end(Front *front) {
    give_back_bytes(front->bytes);
    give_to_kernel(front, front->bytes, front->bytes);
  }
  Front *without(size_t place) {
    Front *front = blocks_[place];
    blocks_[place] = blocks_[--count_];
    bytes_ -= front->bytes;
    return front;
  }
  Front *blocks_[kMostKept] = {};
  size_t count_ = 0;
  size_t bytes_ = 0;
};
KeptBlocks kept;

void *map_large(size_t bytes) {
  if (Front *front = kept.take(bytes)) return front + 1;
  kept.make_way(bytes);
  auto *front = static_cast<Front *>(of_kernel(bytes));
  if (front == nullptr) return nullptr;
  *front = {bytes, true};
  take_bytes(bytes);
  return front + 1;
}

void *allocate(size_t size) {
  if (holds_scope && size <= kLargest) {
    if (void *block = take(size)) return block;
  }
  if (size > SIZE_MAX / 2) return nullptr;
  const size_t bytes = sizeof(Front) + size;
  if (holds_scope && bytes >= kMapped) return map_large(bytes);
  auto *front = static_cast<Front *>(std::malloc(bytes));
  if (front == nullptr) return nullptr;
  *front = {bytes, false};
  take_bytes(bytes);
  return front + 1;
}

void give_back_large(void *block) {
  auto *front = static_cast<Front *>(block) - 1;
  if (front->mapped && holds_scope && kept.keep(front)) return;
  give_back_bytes(front->bytes);
  if (front->mapped) {
    give_to_kernel(front, front->bytes, front->bytes);
  } else {
    std::free(front);
  }
}

}  // namespace

SmallBlocks::SmallBlocks() : begun_(!space.taken.exchange(true)) {
  if (!begun_) return;
  void *memory = mmap(nullptr, kSpace + kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  const auto start = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (start + kHuge - 1) / kHuge * kHuge;
  if (aligned != start) munmap(memory, aligned - start);
  munmap(reinterpret_cast<void *>(aligned + kSpace), start + kHuge - aligned);
  space.base.store(aligned, std::memory_order_relaxed);
  holds_scope = true;
}

SmallBlocks::~SmallBlocks() {
  if (!begun_) return;
  const bool used = holds_scope;
  kept.end_all();
  holds_scope = false;
  if (used && space.living != 0) return;  // and there is no further scope
  if (used) {
    void *const base = reinterpret_cast<void *>(space.base.load(std::memory_order_relaxed));
    give_to_kernel(base, space.pieces * kPiece, kSpace);
    give_back_bytes(space.pieces * kPiece);
    space.base.store(0, std::memory_order_relaxed);
    space.pieces = 0;
    for (size_t units = 0; units <= kLargest / kUnit; ++units) {
      space.free[units] = nullptr;
      space.fresh[units] = space.end[units] = nullptr;
    }
  }
  space.taken.store(false);
}

void SmallBlocks::count_anew() { most.store(held.load()); }
size_t SmallBlocks::most_held() { return most.load(); }

CountedBuffer::CountedBuffer(uint64_t bytes) : bytes_(bytes) { take_bytes(bytes_); }
CountedBuffer::~CountedBuffer() { give_back_bytes(bytes_); }

}  // namespace cairn::recorder

// The recorder's own, hidden from the program as all its symbols are.

void *operator new(size_t size) {
  void *block = cairn::recorder::allocate(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void operator delete(void *block) noexcept {
  if (cairn::recorder::in_space(block)) return cairn::recorder::give_back(block);
  if (block != nullptr) cairn::recorder::give_back_large(block);
}

void operator delete(void *block, size_t /*size*/) noexcept { operator delete(block); }
