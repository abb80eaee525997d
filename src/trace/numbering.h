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
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
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

}  // namespace cairn::trace
