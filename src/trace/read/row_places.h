// RowPlaces: where the calls of one sequence of one rank lie among the rows of its class's sequence, both ways, without
// going through them: which row call n is of, how many calls there are before a row, and where streams along time
// stand there.
//
// Most rows stand for one call. Rows that stand for as many as a stream says (row_kind.h) make the two differ, so the
// rows of each group with streams are counted. A *unit* is what is read as one: a row, or the rows of a counted cycle.
//
// An index in memory, made in one visit of the class's grammar; it holds numbers for each rule, and more for groups
// with streams that the rule has. Borrows the class and the RankRows, whose streams make indices of their own. One
// thread at a time. A question costs what PrefixSums say (grammar/prefix_sums.h), once for each stream concerned.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "grammar/prefix_sums.h"
#include "trace/read/rank_rows.h"

namespace cairn::trace {

class RowPlaces {
 public:
  /// `member`: of the class's ranks, whose rows these are.
  RowPlaces(const ClassPart &part, uint64_t member, RankRows *rows);

  struct Unit {
    uint64_t row = 0;         ///< where it begins
    uint64_t first_call = 0;  ///< calls before it
  };
  /// The unit that has call `call`; behind all rows if there are not so many.
  [[nodiscard]] Unit unit_of(uint64_t call);
  /// Calls before the unit that has the row at `row`; all calls if there are not so many rows.
  [[nodiscard]] uint64_t calls_before(uint64_t row);
  /// Streams stand where the row at `row` is the next one. What walks the rows from there on.
  grammar::Walker seek(uint64_t row);

  /// Rows, before the one at `row`, whose calls remember arrays of requests (model/request_arrays.h).
  [[nodiscard]] uint64_t draining_before(uint64_t row) const;
  /// Where the unit begins that has the n-th of them, from 0; `rows` if there are not so many.
  [[nodiscard]] uint64_t draining_unit(uint64_t n) const;
  [[nodiscard]] uint64_t rows() const { return part_.calls->length(); }

 private:
  /// How many rows of each kind there are: a kind is a group with streams.
  struct RowSums {
    static constexpr uint32_t kNone = UINT32_MAX;
    struct Sum {
      uint64_t rows = 0;
      uint64_t draining = 0;
      std::vector<uint64_t> kinds;
    };
    struct Kept {
      uint64_t rows = 0;
      uint64_t draining = 0;
      std::vector<std::pair<uint32_t, uint64_t>> kinds;  ///< those that there are
    };
    size_t kinds = 0;
    std::vector<uint32_t> kind_of_row;
    std::vector<bool> draining;  ///< by row

    [[nodiscard]] Sum nothing() const { return {0, 0, std::vector<uint64_t>(kinds)}; }
    void add(Sum *sum, grammar::Symbol row, uint64_t times) const;
    static void add(Sum *sum, const Kept &rule, uint64_t times);
    static Kept keep(const Sum &sum);
  };
  /// How many rows of a cycle are still to come, for each number that were to come before.
  struct CycleSums {
    using Sum = std::array<uint8_t, Counted::kLongestCycle>;
    struct Kept {
      Sum map;
    };
    std::vector<uint8_t> cycle_of_row;

    static Sum nothing();
    void add(Sum *sum, grammar::Symbol row, uint64_t times) const;
    static void add(Sum *sum, const Kept &rule, uint64_t times);
    static Kept keep(const Sum &sum) { return {sum}; }
  };

  [[nodiscard]] uint64_t unit_at(uint64_t row) const;
  [[nodiscard]] uint64_t calls_of(const RowSums::Sum &sum);

  const ClassPart &part_;
  RankRows &rows_;
  std::vector<uint32_t> groups_;   ///< those with streams, by kind
  std::vector<uint32_t> counted_;  ///< kinds whose rows stand for any number of calls
  std::optional<grammar::PrefixSums<RowSums>> sums_;
  std::optional<grammar::PrefixSums<CycleSums>> cycles_;  ///< nothing: there are none
};

}  // namespace cairn::trace
