// The atoms of a row that are numbers of something else: call sites in the names of handles, modules in static
// addresses. For who gives these other numbers. And what each field of a row is. Plain functions; cost: the row.
#pragma once

#include <functional>
#include <optional>

#include "spec/spec.h"
#include "trace/model/record.h"

namespace cairn::extrapolate {

/// Of a field of a function's rows; nullptr of what it returns, and of functions that this version does not know.
const spec::Parameter *parameter_of(uint32_t function, size_t field);
spec::Layout layout_of(uint32_t function, size_t field);
/// How many atoms one element of an array of that layout has.
size_t atoms_of(spec::Layout layout);

/// The parameters of a function by which each rank sends an amount of its own to each (MPI_Alltoallv and its like).
struct Exchange {
  size_t sent;      ///< how many elements to each
  size_t type;      ///< of them
  size_t received;  ///< how many from each
  size_t received_type;
  size_t comm;
};
std::optional<Exchange> exchange_of(uint32_t function);

/// Calls `map` with each call site and each module number, which it may change. The row's own site is none of them.
using MapNumber = std::function<uint32_t(uint32_t)>;
void renumber(trace::Row *row, const MapNumber &site, const MapNumber &module);

}  // namespace cairn::extrapolate
