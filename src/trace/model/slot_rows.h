// SlotRows: for each slot of some statistics (class_part.h), the rows that its calls are among, ascending.
//
// One list behind the other: a rank that never does the same twice has a slot for each call, with one row each. Plain
// value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace cairn::trace {

class SlotRows {
 public:
  static SlotRows of(const std::vector<std::vector<uint32_t>> &lists);

  [[nodiscard]] size_t size() const { return ends_.size(); }  ///< slots
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] std::span<const uint32_t> operator[](size_t slot) const {
    const size_t begin = slot == 0 ? 0 : ends_[slot - 1];
    return std::span(rows_).subspan(begin, ends_[slot] - begin);
  }
  [[nodiscard]] bool same(size_t a, size_t b) const { return std::ranges::equal((*this)[a], (*this)[b]); }
  /// Slot i has row i and no other.
  [[nodiscard]] bool is_identity() const;
  bool operator==(const SlotRows &other) const = default;

  void reserve(size_t slots) {
    ends_.reserve(slots);
    rows_.reserve(slots);
  }
  /// The next slot.
  void add(std::span<const uint32_t> rows) {
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    ends_.push_back(rows_.size());
  }
  void add(uint32_t row) { add({&row, 1}); }
  void clear() {
    ends_.clear();
    rows_.clear();
  }

  /// All lists, without their number.
  void write(ByteWriter &out) const;
  /// The next slot as `write` wrote it; false unless its rows ascend below `rows`.
  bool read(ByteReader &in, size_t rows);

 private:
  std::vector<size_t> ends_;  ///< of each slot's rows in `rows_`
  std::vector<uint32_t> rows_;
};

}  // namespace cairn::trace
