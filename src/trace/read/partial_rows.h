// Partial rows: the calls of a class told apart by some of their fields only, and how often each member makes them.
//
// What is not asked for tells no calls apart and costs nothing: a message's tag may differ in each of a million turns,
// and how many bytes went to whom is still one row. Where a field that is asked for has moved into a stream, its values
// are counted on the stream's grammar; several of one group on the product of theirs (grammar/product.h). Calls are
// expanded, those of that group alone, only where such streams are differences from the value before, or loops that lie
// out of phase: once for all members there, once for each member here.
//
// Fields that are not asked for are absent in the rows that are given. Of one asked for as a constant only its first
// atom is there, and is 0 unless it is special. Addresses keep the numbers of modules that the rank gave them, and
// displacements that are running sums of the counts stay one atom (model/derived_values.h), as do arrays of requests
// that calls drain (model/request_arrays.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "trace/read/events.h"
#include "trace/read/trace.h"

namespace cairn::trace {

/// `sum`: of one field at most, a number of elements, where who asks adds up its values anyway: it tells no calls
/// apart, and costs its values along the members once. Calls where it is no number, or below 0, are told apart by it.
enum class Asked : uint8_t { no, yes, constant, sum };
/// For each field of a row's call; empty: its calls are not wanted.
using AskedFields = std::vector<Asked>;

/// The number that a field is, if it is one and not below 0.
std::optional<uint64_t> number_of(const Field &field);

struct PartialRow {
  uint32_t rank = 0;  ///< the first of those that are given together
  uint32_t class_row = 0;
  const Row *row = nullptr;  ///< until the visit ends
  uint64_t count = 0;
  std::optional<uint64_t>
      sum;  ///< of all these calls together, of the field asked for as a sum, which the row lacks then
};

/// Gives the rows of class `class_index`, which must exist, for its members among `ranks` (by rank), in order of rows,
/// then of values, then of members. `asks` must answer the same for all rows of one function. Cost: the distinct
/// partial rows of all members, and memory for the columns of one row.
void each_partial_row(const Trace &trace, uint32_t class_index, const std::vector<bool> &ranks,
                      const std::function<AskedFields(const Structure::RowHead &)> &asks,
                      const std::function<void(const PartialRow &)> &visit);

/// The same, but members whose partial rows are equal are given together, for who does not ask of each what it did:
/// where a size differs along the ranks, there are far fewer sizes than ranks. `ranks` of a visit ascend, and stay
/// until it ends. Where a field that differs on all members is asked for, each_partial_row takes less.
void each_partial_row_alike(const Trace &trace, uint32_t class_index, const std::vector<bool> &ranks,
                            const std::function<AskedFields(const Structure::RowHead &)> &asks,
                            const std::function<void(const PartialRow &, std::span<const uint32_t> ranks)> &visit);

}  // namespace cairn::trace
