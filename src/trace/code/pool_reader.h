// PoolReader: what rows refer to, out of the bytes of the section `columns` (docs/format.md); and rows with the columns
// of their class's ranks.
//
// Trusts nothing: where `read` gives false, `what` says why, and memory stays in proportion to the bytes. The pool must
// outlive it. One use each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "trace/code/row_code.h"

namespace cairn::trace {

class PoolReader {
 public:
  explicit PoolReader(Pool &pool) : pool_(pool) {}
  bool read(ByteReader &in);
  [[nodiscard]] const std::string &what() const { return what_; }

  /// Before the rows of each class.
  void begin_class() { of_ranks_.clear(); }
  /// The row with the columns that are the rank plus something as those of these ranks; nullptr if they are too many.
  /// Memory for it is taken from `in`.
  RowPointer with_ranks(RowPointer row, const RankSet &ranks, ByteReader *in);

 private:
  /// Columns that were last read from the other side, and how far.
  struct Across {
    uint64_t first = 0;
    uint64_t place = 0;
    std::vector<FoldColumn::Cursor> cursors;
  };
  bool bad(std::string what);
  /// One of n columns that say what n before them say, from the other side.
  bool mirrored_column(ByteReader &in);
  uint64_t values_bytes();
  ColumnPointer ranks_plus(const RankSet &ranks, Atom distance, ByteReader *in);

  Pool &pool_;
  std::map<Atom, ColumnPointer> of_ranks_;  ///< of the class being read, by distance
  Across across_;
  uint64_t mirrored_values_ = 0;
  uint64_t values_in_runs_ = 0;
  uint64_t values_bytes_ = 0;
  uint64_t table_bytes_ = 0;
  std::string what_ = "is malformed";
};

}  // namespace cairn::trace
