// Which elements of an array that is spread over a grid of processes one of them has: what MPI_Type_create_darray makes
// a type of (MPI 4.1, 5.1.4). Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/row_access.h"

namespace cairn::analyze {

/// One dimension, as one process has it. With blocks of 2 over 3 processes, place 1 has elements 2, 3, 8, 9, … of it.
struct DarrayDimension {
  int64_t side = 1;     ///< elements of the whole array
  int64_t parts = 1;    ///< processes along it
  int64_t place = 0;    ///< of this one among them
  int64_t block = 1;    ///< successive elements that one process has
  bool cyclic = false;  ///< blocks go round and round; else each process has one
  /// How many of them it has.
  [[nodiscard]] int64_t elements() const;
};

/// In the order of the call's arguments; nullopt: it does not say, or is wrong.
std::optional<std::vector<DarrayDimension>> darray_of(const RowAccess &row);

}  // namespace cairn::analyze
