// Irregular columns in a file whose values take as many bytes each, the widest difference from the least of them: one
// column, or several that follow each other and have as many values, of which the head and the least value are told
// once. What IS says to each other rank, or the sizes of a multipartition's messages, is so.
//
// Plain value; one thread. Cost: proportional to the columns' bytes.
#pragma once

#include <optional>
#include <vector>

#include "trace/values/fold_column.h"

namespace cairn::trace {

class EqualColumns {
 public:
  /// One column; nullopt where some values are special, or nothing would be gained.
  static std::optional<Bytes> alone(const std::vector<Atom> &values);
  /// Adds a column, as it is written alone, which must stay. False: it is none of them.
  bool add(ByteView written);
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(columns_.size()); }
  void write(ByteWriter &out) const;

  /// What follows kEqualColumns: at least one column, unless `in` fails. It does so on malformed bytes, on more than
  /// `most` columns and on more than `limit` values in each.
  static std::vector<FoldColumn> parse(ByteReader &in, uint64_t most, uint64_t limit = kMaxRanks);

 private:
  struct Head {
    uint64_t columns = 0;
    uint64_t count = 0;  ///< values of each
    int width = 0;       ///< bytes of a value
    Atom least = 0;
  };
  struct Column {
    Atom least;
    ByteView values;
  };
  static Head parse_head(ByteReader &in);
  static void write_head(const Head &head, ByteWriter &out);

  std::vector<Column> columns_;
  Head head_;  ///< of all together
  Atom greatest_ = 0;
};

}  // namespace cairn::trace
