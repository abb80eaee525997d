// Calls: the few MPI functions that this room needs, as a table over one communicator, so that it links no MPI: PMPI_
// inside the recorder, MPI_ elsewhere, threads in the tests.
//
// All are collective over the communicator: every rank calls them, in one order. Each gives false if MPI does; what
// they gave then means nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::blocks {

struct Calls {
  void *context = nullptr;  ///< given to each function: the communicator, as its owner likes to name it
  int rank = 0;
  /// MPI_Allreduce with MPI_SUM, in place, element by element.
  bool (*sum)(void *context, uint64_t *values, int count) = nullptr;
  /// MPI_Exscan with MPI_SUM: what the values of all lower ranks add up to; 0 on rank 0.
  bool (*sum_below)(void *context, uint64_t value, uint64_t *below) = nullptr;
  /// MPI_Bcast from rank 0.
  bool (*broadcast)(void *context, void *bytes, size_t size) = nullptr;
};

}  // namespace cairn::blocks
