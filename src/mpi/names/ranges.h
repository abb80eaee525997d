// Ranges: pieces of address space that don't overlap, each with the lowest number that was free when it was added.
//
// A treap in the arena, so that adding, removing and finding among many thousands cost a microsecond at most, and
// nothing is ever moved in bulk. No locks: the owner has one. Where memory runs out, `add` gives nullptr.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arena.h"
#include "base/growable.h"

namespace cairn::recorder {

/// The lowest free number, over and over.
class FreeNumbers {
 public:
  explicit FreeNumbers(Arena &arena) : arena_(arena) {}
  /// -1 without memory.
  int64_t take();
  void give_back(int64_t number);

 private:
  Arena &arena_;
  Growable<uint64_t> taken_;  ///< a bit a number
  size_t first_ = 0;          ///< no word before it has a free bit
};

struct Range {
  uintptr_t low;
  uintptr_t high;
  int64_t number;
  [[nodiscard]] bool contains(uintptr_t address) const { return address >= low && address < high; }
};

class Ranges {
 public:
  explicit Ranges(Arena &arena) : arena_(arena), numbers_(arena) {}

  [[nodiscard]] const Range *containing(uintptr_t address) const;
  /// Removes what it overlaps. An empty range counts as one byte.
  const Range *add(uintptr_t low, uintptr_t high);
  /// The range that starts at `low`; false if there is none.
  bool remove(uintptr_t low);
  /// The first range that ends above `address`, in order of addresses.
  [[nodiscard]] const Range *first_above(uintptr_t address) const;
  [[nodiscard]] size_t size() const { return size_; }

 private:
  struct Node {
    Range range;
    Node *left;
    Node *right;
    uint64_t priority;
  };
  /// Into those that start below `low` and the others.
  static void split(Node *root, uintptr_t low, Node *&below, Node *&rest);
  static Node *join(Node *below, Node *rest);

  Arena &arena_;
  FreeNumbers numbers_;
  Node *root_ = nullptr;
  size_t size_ = 0;
};

}  // namespace cairn::recorder
