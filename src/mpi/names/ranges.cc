#include "mpi/names/ranges.h"

#include <bit>

namespace cairn::recorder {

int64_t FreeNumbers::take() {
  while (first_ < taken_.size() && taken_[first_] == UINT64_MAX) ++first_;
  if (first_ == taken_.size() && !taken_.push(arena_, 0)) return -1;
  const int bit = std::countr_one(taken_[first_]);
  taken_[first_] |= uint64_t{1} << bit;
  return static_cast<int64_t>(first_ * 64 + static_cast<size_t>(bit));
}

void FreeNumbers::give_back(int64_t number) {
  const auto word = static_cast<size_t>(number) / 64;
  if (number < 0 || word >= taken_.size()) return;
  taken_[word] &= ~(uint64_t{1} << (static_cast<size_t>(number) % 64));
  if (word < first_) first_ = word;
}

const Range *Ranges::containing(uintptr_t address) const {
  const Range *next = first_above(address);
  return next != nullptr && next->contains(address) ? next : nullptr;
}

const Range *Ranges::first_above(uintptr_t address) const {
  const Node *node = root_;
  const Node *best = nullptr;
  while (node != nullptr) {
    if (node->range.high > address) {
      best = node;
      node = node->left;
    } else {
      node = node->right;
    }
  }
  return best != nullptr ? &best->range : nullptr;
}

void Ranges::split(Node *root, uintptr_t low, Node *&below, Node *&rest) {
  if (root == nullptr) {
    below = rest = nullptr;
  } else if (root->range.low < low) {
    split(root->right, low, root->right, rest);
    below = root;
  } else {
    split(root->left, low, below, root->left);
    rest = root;
  }
}

Ranges::Node *Ranges::join(Node *below, Node *rest) {
  if (below == nullptr) return rest;
  if (rest == nullptr) return below;
  if (below->priority > rest->priority) {
    below->right = join(below->right, rest);
    return below;
  }
  rest->left = join(below, rest->left);
  return rest;
}

const Range *Ranges::add(uintptr_t low, uintptr_t high) {
  if (high <= low) high = low + 1;
  for (const Range *old = first_above(low); old != nullptr && old->low < high; old = first_above(low)) remove(old->low);
  auto *node = arena_.create<Node>();
  if (node == nullptr) return nullptr;
  const int64_t number = numbers_.take();
  if (number < 0) {
    arena_.release(node, sizeof *node);
    return nullptr;
  }
  // Any good mixing of the address will do for a priority.
  uint64_t priority = low * 0x9e3779b97f4a7c15U;
  priority = (priority ^ (priority >> 30)) * 0xbf58476d1ce4e5b9U;
  *node = {{low, high, number}, nullptr, nullptr, priority ^ (priority >> 27)};
  Node *below = nullptr;
  Node *rest = nullptr;
  split(root_, low, below, rest);
  root_ = join(join(below, node), rest);
  ++size_;
  return &node->range;
}

bool Ranges::remove(uintptr_t low) {
  Node *below = nullptr;
  Node *rest = nullptr;
  Node *match = nullptr;
  split(root_, low, below, rest);
  split(rest, low + 1, match, rest);
  root_ = join(below, rest);
  if (match == nullptr) return false;
  numbers_.give_back(match->range.number);
  arena_.release(match, sizeof *match);
  --size_;
  return true;
}

}  // namespace cairn::recorder
