// CountedRows: the rows of a class as polls and branches leave its sequence (poll_fold.h, branch_fold.h): the old ones,
// then rows that stand for a call as often as they say. Their last field, the count, is still there; it moves
// afterwards.
//
// Not thread-safe. Rows are numbered in the order in which they are asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/bytes.h"
#include "trace/model/class_row.h"
#include "trace/values/numbering.h"

namespace cairn::trace {

class CountedRows {
 public:
  /// `packed` are the rows as recorded; it must outlive this.
  CountedRows(const std::vector<Bytes> &packed, const std::vector<RowPointer> &rows);

  /// A row that need not have occurred; nothing if it is malformed.
  std::optional<uint32_t> base(const Bytes &packed);
  /// `row`, a single call, made `times` times in a cycle of so many.
  uint32_t counted(uint32_t row, uint32_t cycle, uint64_t times);
  /// What stands for `row` where others of its group are missing: a single call as an optional one, others as they are.
  uint32_t present(uint32_t row);
  /// What stands where `row` is missing: a row that was made 0 times.
  uint32_t absent(uint32_t row);

  [[nodiscard]] const std::vector<RowPointer> &rows() const { return rows_; }
  /// The counted rows that an old one became.
  [[nodiscard]] const std::map<uint32_t, std::vector<uint32_t>> &became() const { return became_; }

 private:
  struct Added {
    Bytes packed;
    std::optional<uint32_t> row;
  };
  struct Counts {
    uint32_t row;
    RowKind kind;
  };
  uint32_t made(uint32_t row, const RowKind &kind, uint64_t times);

  const std::vector<Bytes> &packed_;
  std::vector<RowPointer> rows_;
  size_t old_;
  Numbering known_;  ///< the packed rows, then those in `added_`
  std::vector<Added> added_;
  std::map<std::tuple<uint32_t, RowKind, uint64_t>, uint32_t> made_;
  std::map<uint32_t, Counts> counts_;  ///< what a counted row counts
  std::map<uint32_t, std::vector<uint32_t>> became_;
};

}  // namespace cairn::trace
