// RowBytes: the packed rows of one table of signatures, one behind the other in blocks.
//
// A block of the arena a row would cost a lock, zeroing, and what rows of 20 to 50 bytes lack to a power of two. Owned
// by one thread; memory from the arena, given back all at once. nullptr without memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/arena.h"

namespace cairn::recorder {

class RowBytes {
 public:
  const uint8_t *add(Arena &arena, const uint8_t *bytes, size_t size) {
    assert(size != 0);
    if ((blocks_ == nullptr || size > left_) && !begin_block(arena, size)) return nullptr;
    uint8_t *const copy = reinterpret_cast<uint8_t *>(blocks_) + blocks_->size - left_;
    std::memcpy(copy, bytes, size);
    left_ -= size;
    return copy;
  }
  /// Takes back what was added last.
  void undo(size_t size) { left_ += size; }
  void release(Arena &arena) {
    while (blocks_ != nullptr) {
      Block *const next = blocks_->next;
      arena.release(blocks_, blocks_->size);
      blocks_ = next;
    }
    left_ = 0;
  }

 private:
  static constexpr size_t kFirst = 256;
  static constexpr size_t kMost = 8192;
  struct Block {
    Block *next;
    size_t size;  ///< with this
  };

  /// Each twice as large as the last, up to kMost, so that few rows take little; or as large as it has to be.
  bool begin_block(Arena &arena, size_t size) {
    size_t wanted = blocks_ == nullptr ? kFirst : blocks_->size < kMost / 2 ? blocks_->size * 2 : kMost;
    if (wanted < size + sizeof(Block)) wanted = size + sizeof(Block);
    auto *const block = static_cast<Block *>(arena.allocate(wanted));
    if (block == nullptr) return false;
    *block = {blocks_, wanted};
    blocks_ = block;
    left_ = wanted - sizeof(Block);
    return true;
  }

  Block *blocks_ = nullptr;  ///< the one that is being filled first
  size_t left_ = 0;          ///< bytes of it
};

}  // namespace cairn::recorder
