// ClassAxis: the sequence of one class as a line of time, where the trace does not have the time of each call: how much
// of it each row takes (row_shares.h), so that where a row begins, and what lies between two moments, are sums over the
// grammar. All members of the class have the same line.
//
// The sums are made when they are first needed, in a visit of the grammar each (grammar/prefix_sums.h). One thread at a
// time. A question costs the depth of the grammar times the logarithm of its longest rule and of its repetitions, or
// the rows of the window where these are few; nothing depends on the number of calls. Memory: the class's rows, and two
// numbers for each rule and each 32nd term; for kinds some for each rule. Borrows the trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "grammar/prefix_sums.h"
#include "timeline/row_shares.h"
#include "trace/model/class_part.h"

namespace cairn::timeline {

/// Columns of equal length along an axis.
struct Edges {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;  ///< no less than `begin_ns + columns`
  size_t columns = 1;
  /// Where a column begins; of one behind the last: the end.
  [[nodiscard]] uint64_t at(size_t column) const {
    return begin_ns + static_cast<uint64_t>(__uint128_t{end_ns - begin_ns} * column / columns);
  }
  /// The column that a moment within the window is in.
  [[nodiscard]] size_t column_of(uint64_t ns) const;
};

class ClassAxis {
 public:
  /// `shares`: by row of the class.
  ClassAxis(const trace::ClassPart &part, std::vector<RowShare> shares);

  [[nodiscard]] Ticks length() const { return length_; }
  [[nodiscard]] const std::vector<RowShare> &shares() const { return shares_; }
  struct Place {
    uint64_t row = 0;  ///< in the sequence; behind all of them at the end
    Ticks into = 0;    ///< how far into it
  };
  /// The first row that does not end by then.
  [[nodiscard]] Place at(Ticks ticks);
  /// Where the row at that place begins.
  [[nodiscard]] Ticks begin_of(uint64_t row);
  /// What stands at that place, which must be one of the sequence.
  [[nodiscard]] grammar::Walker walk_from(uint64_t row);

  /// Adds what lies in each column, by kind, if the class's line begins at `begin`: columns × kinds numbers.
  /// `kind_of_row`: below `kinds`; the sums are made anew where it is not that of the call before.
  void fill(Ticks begin, const Edges &edges, const std::vector<uint8_t> &kind_of_row, size_t kinds,
            std::vector<Ticks> *columns);
  /// How many rows and sums were looked at, all questions together.
  [[nodiscard]] uint64_t steps() const { return steps_; }
  /// About what it takes of memory.
  [[nodiscard]] size_t bytes() const;

 private:
  struct Times {
    using Sum = Ticks;
    using Kept = Ticks;
    const std::vector<RowShare> *shares;
    static Sum nothing() { return 0; }
    void add(Sum *sum, grammar::Symbol row, uint64_t times) const { *sum += (*shares)[row].whole() * times; }
    static void add(Sum *sum, const Kept &rule, uint64_t times) { *sum += rule * times; }
    static Kept keep(const Sum &sum) { return sum; }
  };
  struct TimesOfKinds {
    using Sum = std::vector<Ticks>;
    using Kept = std::vector<std::pair<Ticks, uint32_t>>;
    const std::vector<RowShare> *shares;
    const std::vector<uint8_t> *kind_of_row;
    size_t kinds;
    [[nodiscard]] Sum nothing() const { return Sum(kinds); }
    void add(Sum *sum, grammar::Symbol row, uint64_t times) const {
      (*sum)[0] += (*shares)[row].gap * times;
      (*sum)[(*kind_of_row)[row]] += (*shares)[row].call * times;
    }
    static void add(Sum *sum, const Kept &rule, uint64_t times) {
      for (const auto &[ticks, kind] : rule) (*sum)[kind] += ticks * times;
    }
    static Kept keep(const Sum &sum);
  };

  const grammar::PrefixSums<Times> &times();
  const grammar::PrefixSums<TimesOfKinds> &kinds_of(const std::vector<uint8_t> &kind_of_row, size_t kinds);
  std::vector<Ticks> kinds_before(const Place &place);
  void fill_by_rows(Ticks begin, Place from, Ticks until, const Edges &edges, const std::vector<uint8_t> &kind_of_row,
                    size_t kinds, std::vector<Ticks> *columns);

  const trace::ClassPart &part_;
  std::vector<RowShare> shares_;
  Ticks length_ = 0;
  std::unique_ptr<grammar::PrefixSums<Times>> times_;
  std::unique_ptr<grammar::PrefixSums<TimesOfKinds>> kinds_;
  std::vector<uint8_t> kind_of_row_;  ///< that `kinds_` is of
  uint64_t steps_ = 0;
};

}  // namespace cairn::timeline
