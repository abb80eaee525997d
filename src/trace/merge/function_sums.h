// FunctionSums: how long each function took on each rank, in nanoseconds: what the statistics of classes, which are
// merged over their ranks, no longer tell. A column along the ranks for each function that any of them called.
//
// In memory and between ranks sums are exact. A file rounds them: below 65 us they stay exact, above they keep sixteen
// bits, so that what is read is within 0.002 % of what was. It holds as many functions, those that took
// most time first, as fit into 64 KiB and 8 bytes a rank, and always one; what a file does not hold is not known, and
// reads as nothing. A file of one rank holds none, as its classes' statistics are that rank's.
//
// Plain value. Merging costs what merging a column does (fold_column.h), for each function.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "trace/model/record.h"
#include "trace/values/rank_set.h"

namespace cairn::trace {

class FunctionSums {
 public:
  FunctionSums() = default;
  /// Of one rank; nothing where the timing mode keeps no statistics.
  explicit FunctionSums(const ProcessRecord &process);
  /// Of several ranks; each function has all of them.
  static FunctionSums of(const std::map<uint32_t, std::vector<uint64_t>> &sums);

  [[nodiscard]] bool empty() const { return columns_.empty(); }
  /// Function and the ranks' sums.
  [[nodiscard]] const std::map<uint32_t, FoldColumn> &columns() const { return columns_; }
  /// At a place among the ranks; nothing if it is not known.
  [[nodiscard]] std::optional<uint64_t> at(uint32_t function, uint64_t place) const;

  /// `ranks` and `others` are how many there are on each side.
  void merge(const FunctionSums &other, uint64_t ranks, uint64_t others, const Interleave &order);
  /// Adds what some of the ranks did besides.
  void add(const FunctionSums &other, const RankSet &ranks, const RankSet &others);

  void write(ByteWriter &out) const;
  /// Of so many ranks; nothing where it is malformed.
  static std::optional<FunctionSums> parse(ByteReader &in, uint64_t ranks);
  /// As a file has them.
  void write_rounded(ByteWriter &out, uint64_t ranks) const;
  static std::optional<FunctionSums> parse_rounded(ByteReader &in, uint64_t ranks);

 private:
  std::map<uint32_t, FoldColumn> columns_;
  bool rounded_ = false;  ///< read from a file, which may not hold all functions
};

}  // namespace cairn::trace
