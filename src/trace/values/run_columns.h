// Columns that follow each other in a file and change at the same few ranks: what a value is on each run of ranks is
// told for all of them together. Each by itself would name those ranks again, and take the step there and the step
// back: what one rank does otherwise, or what a class of few irregular ranks does, would take several times its values.
//
// Plain value; one thread. Cost: proportional to the columns' bytes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/values/fold_column.h"

namespace cairn::trace {

class RunColumns {
 public:
  /// Adds a column, as it is written alone. False: it is none of them.
  bool add(ByteView written);
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(columns_.size()); }
  /// Empty if their values lie too far apart.
  [[nodiscard]] Bytes written() const;

  /// What follows kRunColumns. `in` fails on malformed bytes, on more than `most` columns, and on more runs of all
  /// that were read so than its bytes may stand for; `made` counts them.
  static std::vector<FoldColumn> parse(ByteReader &in, uint64_t most, uint64_t *made);

 private:
  using Runs = std::vector<std::pair<Atom, uint64_t>>;
  std::vector<Runs> columns_;
  std::vector<uint64_t> ends_;  ///< of the runs in which no column changes, ascending; the last is the columns' size
  Atom least_ = 0;
  Atom greatest_ = 0;
  size_t values_ = 0;  ///< bytes for all values, if all runs need as many for one
};

}  // namespace cairn::trace
