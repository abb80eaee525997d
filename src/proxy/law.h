// A law for what a value is on each rank, as a C expression of `rank` and `size`: the same, the rank plus something,
// modulo the number of ranks, neighbours on a grid whose edges have none or wrap round, a row, a column, a butterfly.
//
// Plain function. Cost: the values, times the laws that fit the first of them; some hundred laws are tried at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/values/atom.h"

namespace cairn::proxy {

/// How a value that stands by itself is written, a named constant too.
std::string plain_value(trace::Atom value);
/// The same as a mark among numbers: "ATOM(192)".
std::string atom_value(trace::Atom value);

/// `values` has one for each of `ranks`, which ascend; `size`: of MPI_COMM_WORLD. `marks`: named
/// constants are marks. Nothing: no simple law holds.
std::optional<std::string> law_of(const std::vector<uint32_t> &ranks, const std::vector<trace::Atom> &values,
                                  uint64_t size, bool marks = false);

}  // namespace cairn::proxy
