// Growable arrays in the arena for the recorder's own use. They never throw: a push that finds no memory gives
// false, and the caller degrades. Trivially destructible; the arena dies with the process.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/arena.h"

namespace cairn {

/// A contiguous array that doubles. For scratch and small tables.
template <typename T>
class Growable {
 public:
  bool reserve(Arena &arena, size_t wanted) {
    if (wanted <= capacity_) return true;
    size_t capacity = capacity_ == 0 ? 64 : capacity_ * 2;
    while (capacity < wanted) capacity *= 2;
    T *grown = arena.allocate_array<T>(capacity);
    if (grown == nullptr) return false;
    if (size_ != 0) memcpy(static_cast<void *>(grown), data_, size_ * sizeof(T));
    arena.release_array(data_, capacity_);
    data_ = grown;
    capacity_ = capacity;
    return true;
  }
  bool push(Arena &arena, const T &value) {
    if (size_ == capacity_ && !reserve(arena, size_ + 1)) return false;
    data_[size_++] = value;
    return true;
  }
  bool append(Arena &arena, const T *values, size_t count) {
    if (!reserve(arena, size_ + count)) return false;
    if (count != 0) memcpy(static_cast<void *>(data_ + size_), values, count * sizeof(T));
    size_ += count;
    return true;
  }
  void clear() { size_ = 0; }
  /// Within what was reserved.
  void resize(size_t size) {
    assert(size <= capacity_);
    size_ = size;
  }
  void release(Arena &arena) {
    arena.release_array(data_, capacity_);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] size_t capacity() const { return capacity_; }
  T *data() { return data_; }
  const T *data() const { return data_; }
  T &operator[](size_t i) {
    assert(i < size_);
    return data_[i];
  }
  const T &operator[](size_t i) const {
    assert(i < size_);
    return data_[i];
  }

 private:
  T *data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// An array of chunks: elements never move, growth never copies.
template <typename T, size_t kChunk = 256>
class Chunked {
 public:
  /// A new zeroed element, or nullptr.
  T *add(Arena &arena) {
    if (size_ == chunks_.size() * kChunk) {
      T *chunk = arena.allocate_array<T>(kChunk);
      if (chunk == nullptr) return nullptr;
      if (!chunks_.push(arena, chunk)) {
        arena.release_array(chunk, kChunk);
        return nullptr;
      }
    }
    return &(*this)[size_++];
  }
  void release(Arena &arena) {
    for (size_t i = 0; i < chunks_.size(); ++i) arena.release_array(chunks_[i], kChunk);
    chunks_.release(arena);
    size_ = 0;
  }
  [[nodiscard]] size_t size() const { return size_; }
  T &operator[](size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T &operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }

 private:
  Growable<T *> chunks_;
  size_t size_ = 0;
};

}  // namespace cairn
