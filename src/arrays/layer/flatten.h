// flatten: which bytes an MPI datatype covers, as regions from byte 0 on, in the order of the type map.
//
// Derived types are taken apart with MPI_Type_get_envelope and MPI_Type_get_contents; vectors and subarrays become
// levels of a region, never lists of runs. File views are in file order by MPI's rules, which regions need; a type that
// is not is refused. Distributed arrays (MPI_Type_create_darray) are refused, too: PnetCDF makes none.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "arrays/file/region.h"

namespace cairn::arrays {

struct Flat {
  Regions regions;
  uint64_t size = 0;    ///< bytes of data
  uint64_t extent = 0;  ///< from one instance of the type to the next
};

/// Nothing if the type cannot be told as regions.
std::optional<Flat> flatten(MPI_Datatype type);

/// `count` instances of a type, one after the other, `first` bytes of data left out, `bytes` taken, from `offset` on.
/// Nothing if they would not be in file order.
std::optional<Regions> tile(const Flat &flat, uint64_t offset, uint64_t first, uint64_t bytes);

}  // namespace cairn::arrays
