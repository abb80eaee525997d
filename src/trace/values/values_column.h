// ValuesColumn: along the ranks, values that are no single atoms: bytes, or lists whose length differs from rank
// to rank. A table of the distinct ones and a fold column of indices into it.
//
// Plain value; concurrent const use is fine. Merging is proportional to the tables and the columns' terms.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "trace/values/fold_column.h"
#include "trace/values/rank_set.h"

namespace cairn::trace {

class ValuesColumn {
 public:
  ValuesColumn() : index_(FoldColumn::Domain::symbols) {}
  static ValuesColumn constant(Bytes value, uint64_t count);

  static ValuesColumn of_each(const std::vector<Bytes> &values);

  [[nodiscard]] uint64_t size() const { return index_.size(); }
  [[nodiscard]] const Bytes &at(uint64_t index) const { return values_[static_cast<size_t>(index_.at(index))]; }
  [[nodiscard]] const std::vector<Bytes> &values() const { return values_; }
  [[nodiscard]] const FoldColumn &index() const { return index_; }
  /// Replaces every distinct value by map(value); values that become equal are one afterwards.
  template <typename Map>
  void transform(Map map) {
    ValuesColumn out;
    std::vector<uint32_t> to;
    bool injective = true;
    for (const Bytes &value : values_) {
      const size_t before = out.values_.size();
      to.push_back(out.number(map(value)));
      injective = injective && out.values_.size() > before;
    }
    if (injective) {
      index_.rename(to);
      values_ = std::move(out.values_);
      return;
    }
    FoldColumn::Cursor cursor(index_);
    for (uint64_t i = 0; i < index_.size(); ++i) out.index_.append(to[static_cast<size_t>(cursor.next())]);
    *this = std::move(out);
  }

  static ValuesColumn merged(ValuesColumn left, ValuesColumn right, const Interleave &order);

  /// Made of a table and indices that were read; false if they don't fit together.
  static bool of(std::vector<Bytes> values, FoldColumn index, ValuesColumn *out);

  void write(ByteWriter &out) const;
  /// `in` fails on malformed bytes.
  static ValuesColumn parse(ByteReader &in, uint64_t limit = kMaxRanks);

 private:
  uint32_t number(const Bytes &value);
  std::vector<Bytes> values_;  ///< distinct, in order of first occurrence
  FoldColumn index_;
};

}  // namespace cairn::trace
