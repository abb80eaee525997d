// NextRow: where the next of some rows is in a sequence, without going through those before it.
//
// Made in one visit of the class's grammar. Borrows the trace. Const; any thread. A question costs what PrefixSums say
// (grammar/prefix_sums.h).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "grammar/prefix_sums.h"
#include "trace/read/events.h"

namespace cairn::analyze {

class NextRow {
 public:
  NextRow(const trace::Trace &trace, uint32_t class_index,
          const std::function<bool(const trace::Structure::RowHead &)> &wanted);
  /// The first of them at `row` of the class's sequence or behind (Event::row_place); how many rows there are if there
  /// is none.
  [[nodiscard]] uint64_t from(uint64_t row) const;

 private:
  struct Count {
    using Sum = uint64_t;
    using Kept = uint64_t;
    std::vector<bool> wanted;
    static Sum nothing() { return 0; }
    void add(Sum *sum, grammar::Symbol row, uint64_t times) const { *sum += wanted[row] ? times : 0; }
    static void add(Sum *sum, const Kept &rule, uint64_t times) { *sum += rule * times; }
    static Kept keep(const Sum &sum) { return sum; }
  };
  static Count count_of(const trace::Trace &trace, uint32_t class_index,
                        const std::function<bool(const trace::Structure::RowHead &)> &wanted);
  grammar::PrefixSums<Count> sums_;
};

}  // namespace cairn::analyze
