// Numbering: equal things get one number, in order of first sight.
//
// Open addressing over hashes; what the numbers stand for is the caller's to keep and to compare. Heap memory, one
// thread. A look-up costs a cache line or two, where std::unordered_map allocates for each entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::trace {

class Numbering {
 public:
  /// For so many.
  void reserve(size_t count) {
    while (count * 2 > slots_.size()) grow();
  }
  /// The number of what has this hash and for which `equal(number)` holds; if there is none, the next one.
  template <typename Equal>
  uint32_t number(uint64_t hash, const Equal &equal) {
    if ((size_t{count_} + 1) * 2 > slots_.size()) grow();
    const auto tag = static_cast<uint32_t>(hash >> 32);
    const size_t mask = slots_.size() - 1;
    for (size_t at = tag & mask;; at = (at + 1) & mask) {
      Slot &slot = slots_[at];
      if (slot.next == 0) {
        slot = {tag, ++count_};
        return count_ - 1;
      }
      if (slot.tag == tag && equal(slot.next - 1)) return slot.next - 1;
    }
  }
  [[nodiscard]] uint32_t count() const { return count_; }

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t next = 0;  ///< the number plus one; 0: empty
  };
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 32 : slots_.size() * 2);
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot &slot : old) {
      if (slot.next == 0) continue;
      size_t at = slot.tag & mask;
      while (slots_[at].next != 0) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;  ///< a power of two
  uint32_t count_ = 0;
};

/// Numbers what is shared, by where it lies.
class PointerNumbering {
 public:
  /// For so many.
  void reserve(size_t count) {
    numbering_.reserve(count);
    known_.reserve(count);
  }
  /// Whether it is new; `number` is its number.
  bool add(const void *pointer, uint32_t *number) {
    const auto word = reinterpret_cast<uintptr_t>(pointer);
    *number = numbering_.number(word * 0x9E3779B97F4A7C15ULL, [&](uint32_t n) { return known_[n] == pointer; });
    if (*number < known_.size()) return false;
    known_.push_back(pointer);
    return true;
  }

 private:
  Numbering numbering_;
  std::vector<const void *> known_;
};

}  // namespace cairn::trace
