#include "scale/heap_count.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace cairn::scale::heap {
namespace {

bool counting = false;
uint64_t live_bytes = 0;
uint64_t peak_bytes = 0;

/// In front of every block.
struct alignas(std::max_align_t) Front {
  uint64_t counted;  ///< bytes; 0 if not
};

/// glibc: a word in front, 16-byte steps, 32 bytes at least.
uint64_t block_size(size_t size) { return std::max<uint64_t>(32, (uint64_t{size} + 8 + 15) & ~uint64_t{15}); }

void *allocate(size_t size) {
  auto *front = static_cast<Front *>(std::malloc(size + sizeof(Front)));
  if (front == nullptr) std::abort();  // a simulation that ran out of memory has nothing to say
  front->counted = counting ? block_size(size) : 0;
  live_bytes += front->counted;
  peak_bytes = std::max(peak_bytes, live_bytes);
  return front + 1;
}

void release(void *block) {
  if (block == nullptr) return;
  Front *front = static_cast<Front *>(block) - 1;
  live_bytes -= front->counted;
  std::free(front);
}

}  // namespace

void count(bool on) { counting = on; }
uint64_t live() { return live_bytes; }
uint64_t peak() { return peak_bytes; }
void forget_peak() { peak_bytes = live_bytes; }

}  // namespace cairn::scale::heap

// The aligned forms stay the library's: nothing measured here uses them.
void *operator new(size_t size) { return cairn::scale::heap::allocate(size); }
void *operator new[](size_t size) { return cairn::scale::heap::allocate(size); }
void operator delete(void *block) noexcept { cairn::scale::heap::release(block); }
void operator delete[](void *block) noexcept { cairn::scale::heap::release(block); }
void operator delete(void *block, size_t /*size*/) noexcept { cairn::scale::heap::release(block); }
void operator delete[](void *block, size_t /*size*/) noexcept { cairn::scale::heap::release(block); }
