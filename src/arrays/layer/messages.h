// Bytes between ranks and to files, however many: MPI counts them in ints.
//
// Each gives the MPI error code; those with a communicator are collective over it.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "base/bytes.h"

namespace cairn::arrays {

/// So many bytes are moved by one call of MPI, which counts in ints.
constexpr int kMostAtOnce = 1 << 30;

/// Rank 0's bytes to all, who need not know how many there are.
int share(Bytes *bytes, MPI_Comm comm);

/// The bytes of all ranks, in rank order: on every rank, or on rank 0 (`all` stays empty on the others). `most`: bytes
/// of all ranks in one message, as far as a rank has more than one in it.
int gather(const Bytes &own, MPI_Comm comm, bool everywhere, std::vector<Bytes> *all,
           uint64_t most = uint64_t{1} << 30);

/// Reads or writes bytes at a place, past the layer. What lies behind the end of the file is read as zeros.
int write_bytes(MPI_File file, uint64_t at, ByteView bytes);
int read_bytes(MPI_File file, uint64_t at, std::span<uint8_t> bytes);

}  // namespace cairn::arrays
