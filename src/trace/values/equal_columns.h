// Irregular columns that follow each other in a file and have as many values in equal bytes (fold_column.h): how they
// begin is told once for all of them, and so is their least value where that needs no more bytes.
//
// Plain value; one thread. Cost: proportional to the columns' bytes.
#pragma once

#include <vector>

#include "trace/values/fold_column.h"

namespace cairn::trace {

/// How several such columns begin; no single one does.
constexpr uint64_t kSeveralEqual = 11;

class EqualColumns {
 public:
  /// Adds a column, as it is written alone, which must stay. False: it is none of them.
  bool add(ByteView written);
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(columns_.size()); }
  void write(ByteWriter &out) const;

  /// What follows kSeveralEqual. `in` fails on malformed bytes and on more than `most` columns.
  static std::vector<FoldColumn> parse(ByteReader &in, uint64_t most);

 private:
  struct Column {
    Atom least;
    ByteView values;
  };
  std::vector<Column> columns_;
  uint64_t count_ = 0;  ///< values of each
  int width_ = 0;       ///< bytes of a value
  Atom least_ = 0;
  Atom greatest_ = 0;
};

}  // namespace cairn::trace
