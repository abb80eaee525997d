// Law: a value as a function of its Moment, found in small runs and asked of a large one: a constant; a sum of one or
// two terms with factors; a share of something that is divided among the ranks and does not come out even; a choice
// by a predicate between two laws; or a law for each turn of a loop of few, or for each element of a short array.
//
// `Fit` finds the simplest law that gives every value exactly, and none otherwise: a law that is nearly right would
// send messages to nowhere. It must be borne out by more different points than it has free numbers, so that two runs
// never make a straight line of a curve.
//
// Law is a plain value. A Fit belongs to one thread; cost: terms² × the points until one disagrees, for each of a few
// hundred choices, and nothing for values that it has seen.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "extrapolate/terms.h"

namespace cairn::extrapolate {

struct Law {
  enum class Kind : uint8_t { constant, sum, share, choice, table, cells, area, faces, room };
  /// cells: offset + columns * a cell's first coordinate + its second. area: factor * side * side of a cell of the
  /// whole that `value` is; `offset` says what a side is. faces, room: factor * what follows from `value`. See
  /// multipartition.h.
  Kind kind = Kind::constant;
  int64_t value = 0;  ///< constant; of a share: what is divided
  double offset = 0;  ///< sum: offset + factor * first + second_factor * second. share: offset + factor * share
  double factor = 0;
  double second_factor = 0;
  uint16_t first = 0;  ///< term; division; predicate; coordinate; what a table is by
  uint16_t second = 0;
  bool two = false;
  std::shared_ptr<const Law> yes;
  std::shared_ptr<const Law> no;
  std::vector<std::shared_ptr<const Law>> each;  ///< table: for 0, 1, … of a turn or an element; nullptr: unknown

  static Law constant(int64_t value);
  /// Nothing where it gives no whole number.
  [[nodiscard]] std::optional<int64_t> at(const Moment &moment) const;
  /// The same, but that what does not come out even is rounded up, as programs do that deal out too much.
  [[nodiscard]] std::optional<int64_t> rounded(const Moment &moment) const;
  /// "if x = 0: MPI_PROC_NULL, else rank - 1", with `special` for values that are no numbers.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::optional<int64_t> at(const Moment &moment, bool round_up) const;
  /// Of which loops' turns it takes notice, as in terms.h.
  [[nodiscard]] uint8_t loops() const;
  [[nodiscard]] bool is_constant() const { return kind == Kind::constant; }
};

/// Of which of a table's laws the moment is; -1: of none. `by`: a loop, from the innermost, or kByElement.
constexpr uint16_t kByElement = Moment::kLoops;
int64_t table_place(const Moment &moment, uint16_t by);

/// Sets of values at the same moments.
class Fit {
 public:
  /// `runs`: which run each moment is of.
  Fit(std::vector<Moment> moments, std::vector<uint32_t> runs);

  /// Of a value for each moment.
  std::optional<Law> law(const std::vector<int64_t> &values);
  [[nodiscard]] const std::vector<Moment> &moments() const { return moments_; }
  [[nodiscard]] const std::vector<uint32_t> &runs() const { return runs_; }

 private:
  using Points = std::vector<uint32_t>;  ///< of the moments
  struct Found {
    Law law;
    int cost = 0;
  };
  const std::vector<double> &column(size_t term);
  [[nodiscard]] bool means_something(size_t term, const Points &points);
  std::optional<Found> simple(const std::vector<int64_t> &values, const Points &points);
  std::optional<Found> one_term(const std::vector<int64_t> &values, const Points &points);
  std::optional<Found> two_terms(const std::vector<int64_t> &values, const Points &points);
  std::optional<Found> share(const std::vector<int64_t> &values, const Points &points);
  std::optional<Found> choice(const std::vector<int64_t> &values, const Points &points, int depth);
  std::optional<Found> table(const std::vector<int64_t> &values, const Points &points, int depth);
  /// The simplest of all of these; choices go so deep.
  std::optional<Found> any(const std::vector<int64_t> &values, const Points &points, int depth, bool tables);
  [[nodiscard]] size_t runs_of(const Points &points) const;

  std::vector<Moment> moments_;
  std::vector<uint32_t> runs_;
  std::vector<std::vector<double>> columns_;
  std::vector<std::vector<bool>> holds_;  ///< by predicate
  std::map<std::vector<int64_t>, std::optional<Law>> known_;
  int tries_ = 0;
};

}  // namespace cairn::extrapolate
