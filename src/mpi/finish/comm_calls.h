// The recorder's communicator as src/blocks wants it. The handle must outlive what it gives.
#pragma once

#include "blocks/calls.h"
#include "mpi/call/mpi_calls.h"

namespace cairn::recorder {

inline blocks::Calls calls_of(mpi::Handle *comm, int rank) {
  blocks::Calls calls;
  calls.context = comm;
  calls.rank = rank;
  calls.sum = [](void *context, uint64_t *values, int count) {
    return mpi::sum(*static_cast<const mpi::Handle *>(context), values, count);
  };
  calls.sum_below = [](void *context, uint64_t value, uint64_t *below) {
    return mpi::sum_below(*static_cast<const mpi::Handle *>(context), value, below);
  };
  calls.broadcast = [](void *context, void *message, size_t size) {
    return mpi::broadcast(*static_cast<const mpi::Handle *>(context), message, size);
  };
  return calls;
}

}  // namespace cairn::recorder
