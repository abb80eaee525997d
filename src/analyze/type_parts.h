// TypeParts: what a derived datatype is made of, by the call that made it: so many elements of one type, then so many
// of the next, in the order of its type map. Displacements are left out; they say where elements lie, not what they
// are.
//
// Example: MPI_Type_vector(10, 3, 5, MPI_INT) is 30 of MPI_INT; a struct of 2 MPI_INT and a column is 2 of MPI_INT and
// 1 of the column. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/row_access.h"

namespace cairn::analyze {

struct TypePart {
  int64_t count = 0;  ///< not negative
  HandleName type;
};

/// Of the `newtype` of a call; nullopt: the call does not say (MPI_Type_match_size, …).
std::optional<std::vector<TypePart>> type_parts(const RowAccess &row);
/// "MPI_Type_vector" for MPI_Type_vector and MPI_Type_vector_c.
std::string_view base_function(const spec::Function &function);

}  // namespace cairn::analyze
