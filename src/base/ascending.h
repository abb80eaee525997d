// Ascending: what is under way, by numbers that ascend: a value is mostly added behind all others, then found, and
// taken out anywhere.
//
// A vector, with holes where values were taken out, that gives its room to what comes next: no allocation a value,
// which is most of what a tree of so few costs. Finding costs the logarithm, taking out O(1) amortised, adding before
// others what stands behind. Values are default-constructible and move. Pointers hold until something is added.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cairn {

template <typename Value>
class Ascending {
 public:
  struct Entry {
    uint64_t number = 0;
    bool there = false;  ///< else a hole
    Value value{};
  };

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] size_t size() const { return count_; }

  /// Of a number that is not there.
  Value &add(uint64_t number, Value value) {
    if (entries_.size() > 2 * count_ + kFew) close_up();
    ++count_;
    if (entries_.empty() || entries_.back().number < number) {
      return entries_.emplace_back(Entry{number, true, std::move(value)}).value;
    }
    const auto at = lower_bound(number);
    if (at != entries_.end() && at->number == number) {
      assert(!at->there);
      *at = {number, true, std::move(value)};
      first_ = std::min(first_, static_cast<size_t>(at - entries_.begin()));
      return at->value;
    }
    const auto place = static_cast<size_t>(at - entries_.begin());
    if (place < first_) first_ = place;
    return entries_.insert(at, Entry{number, true, std::move(value)})->value;
  }
  /// nullptr: it is not there.
  Value *find(uint64_t number) {
    const auto at = lower_bound(number);
    return at != entries_.end() && at->number == number && at->there ? &at->value : nullptr;
  }
  const Value *find(uint64_t number) const { return const_cast<Ascending *>(this)->find(number); }
  /// Nothing happens if it is not there.
  void take(uint64_t number) {
    const auto at = lower_bound(number);
    if (at == entries_.end() || at->number != number || !at->there) return;
    at->there = false;
    at->value = Value();
    if (--count_ == 0) {
      entries_.clear();
      first_ = 0;
      return;
    }
    while (!entries_[first_].there) ++first_;
    while (!entries_.back().there) entries_.pop_back();
  }
  /// The lowest; there must be one.
  Entry &first() {
    assert(count_ != 0);
    return entries_[first_];
  }
  [[nodiscard]] const Entry &first() const { return const_cast<Ascending *>(this)->first(); }
  /// Calls `visit(number, value)` for all, ascending.
  template <typename Visit>
  void each(const Visit &visit) const {
    for (size_t i = first_; i < entries_.size(); ++i) {
      if (entries_[i].there) visit(entries_[i].number, entries_[i].value);
    }
  }

 private:
  static constexpr size_t kFew = 16;
  using Entries = std::vector<Entry>;
  typename Entries::iterator lower_bound(uint64_t number) {
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
    if (begin == entries_.end() || begin->number >= number) {
      // Holes before the first may have been it.
      return first_ == 0 || begin == entries_.end() || begin->number == number
                 ? begin
                 : std::lower_bound(entries_.begin(), begin, number, below);
    }
    return std::lower_bound(begin, entries_.end(), number, below);
  }
  static bool below(const Entry &entry, uint64_t number) { return entry.number < number; }
  void close_up() {
    std::erase_if(entries_, [](const Entry &entry) { return !entry.there; });
    first_ = 0;
  }

  Entries entries_;   ///< the last one is there
  size_t first_ = 0;  ///< that is there
  size_t count_ = 0;
};

}  // namespace cairn
