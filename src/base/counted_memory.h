// For tests: counts what operator new gives. In one file of a program, since it replaces those operators. One thread.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace cairn {

struct CountedMemory {
  size_t live = 0;
  size_t peak = 0;
  size_t most = SIZE_MAX;  ///< what would be more is refused
};
inline CountedMemory counted_memory;

/// What `does` takes at most while it runs, beyond what was there before. More than `most` ends it: then SIZE_MAX.
template <typename Does>
size_t memory_taken(size_t most, Does does) {
  CountedMemory &memory = counted_memory;
  const size_t before = memory.peak = memory.live;
  memory.most = memory.live + most;
  bool enough = true;
  try {
    does();
  } catch (const std::bad_alloc &) {
    enough = false;
  }
  memory.most = SIZE_MAX;
  return enough ? memory.peak - before : SIZE_MAX;
}

}  // namespace cairn

void *operator new(size_t size) {
  cairn::CountedMemory &memory = cairn::counted_memory;
  void *block = memory.live + size > memory.most ? nullptr : std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  memory.live += malloc_usable_size(block);
  memory.peak = std::max(memory.peak, memory.live);
  return block;
}

void operator delete(void *block) noexcept {
  if (block != nullptr) cairn::counted_memory.live -= malloc_usable_size(block);
  std::free(block);
}

void operator delete(void *block, size_t /*size*/) noexcept { operator delete(block); }
