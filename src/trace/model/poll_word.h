// PollWord: unsuccessful polls (MPI_Test that finds nothing, MPI_Iprobe, …) between two other calls, as short cycles
// with counts: what a progress loop that waits for something does (design: polls fold into one event with a count).
//
// Terms are found greedily from left to right, so that the same polls give the same terms however they were put
// together. Appending a word many times costs a few appends. A value; one thread at a time.
// Source: the aggregation of non-deterministic repetitions in ScalaTrace, sections 2 and 3, without its loss.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/model/row_kind.h"

namespace cairn::trace {

class PollWord {
 public:
  static constexpr size_t kLongestCycle = Counted::kLongestCycle;  ///< calls
  static constexpr size_t kMostTerms = 4096;

  /// `count` times these rows; one row, or 2 to kLongestCycle.
  struct Term {
    std::vector<uint32_t> rows;
    uint64_t count = 0;
    auto operator<=>(const Term &) const = default;
  };

  /// False if the word would become too long or a count too large; what it holds then is of no use.
  bool append(uint32_t row, uint64_t count);
  bool append(const PollWord &other, uint64_t count);

  [[nodiscard]] bool empty() const { return terms_.empty(); }
  [[nodiscard]] const std::vector<Term> &terms() const { return terms_; }
  auto operator<=>(const PollWord &) const = default;

 private:
  bool one(uint32_t row);
  bool all(const std::vector<Term> &terms);
  void close_cycle();
  std::vector<Term> terms_;
};

}  // namespace cairn::trace
