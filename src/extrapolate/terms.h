// Terms: the numbers that the values of a program may be made of, by name: the rank, its coordinates, its neighbours in
// each topology, partners of a butterfly, parents and children in trees, sizes and their inverses, turns of loops. And
// predicates: what programs ask of a rank before they do something. Laws (law.h) are built of both.
//
// The tables are ordered: what stands further up is simpler, and is preferred where several explain the same values.
// Static data, any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "extrapolate/coordinates.h"

namespace cairn::extrapolate {

/// What laws calculate with.
inline double number(int64_t value) { return static_cast<double>(value); }

/// A value's place: whose it is, in which turns of the loops around its call, and where in its array.
struct Moment {
  static constexpr size_t kLoops = 3;
  const Coordinates *of = nullptr;
  std::array<int32_t, kLoops> turn{};   ///< of the innermost loop first
  std::array<int32_t, kLoops> turns{};  ///< how many it has; 0: there is no such loop
  int32_t element = 0;                  ///< of an array
  int32_t elements = 0;                 ///< that it has
};

struct Term {
  const char *name;
  int cost;                            ///< how far-fetched it is
  bool sums;                           ///< may be added to another term
  double (*at)(const Moment &moment);  ///< NaN where it means nothing
};
std::span<const Term> terms();

struct Predicate {
  const char *name;
  int cost;
  bool (*holds)(const Moment &moment);
};
std::span<const Predicate> predicates();

/// Of which loops' turns it takes notice: bit l for the l-th from the innermost.
uint8_t loops_of_term(size_t term);
uint8_t loops_of_predicate(size_t predicate);

/// A dimension over which a program may divide something, for shares (law.h).
struct Division {
  const char *name;
  int64_t (*parts)(const Coordinates &of);
  int64_t (*part)(const Coordinates &of);  ///< the rank's own
};
std::span<const Division> divisions();

}  // namespace cairn::extrapolate
