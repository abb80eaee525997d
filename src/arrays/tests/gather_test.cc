// Bytes between ranks: as they were, in rank order, in however many messages they went. Started on several ranks; says
// what is wrong, and ends with status 1 then.
#include <mpi.h>

#include <cstdio>

#include "arrays/layer/messages.h"

namespace {

using cairn::Bytes;

Bytes bytes_of(int rank, size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + static_cast<size_t>(rank) * 31);
  return bytes;
}

size_t size_of(int rank, size_t unit) { return rank == 1 ? 0 : unit * static_cast<size_t>(rank + 1); }

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int failures = 0;
  for (const bool everywhere : {false, true}) {
    for (const size_t unit : {0, 1, 5, 100}) {
      // In one message; in some; a byte of each rank at a time.
      for (const uint64_t most : {uint64_t{1} << 30, uint64_t{16}, uint64_t{1}}) {
        std::vector<Bytes> all;
        const Bytes own = bytes_of(rank, size_of(rank, unit));
        if (cairn::arrays::gather(own, MPI_COMM_WORLD, everywhere, &all, most) != MPI_SUCCESS) ++failures;
        const bool here = everywhere || rank == 0;
        bool good = all.size() == (here ? static_cast<size_t>(ranks) : 0);
        for (size_t i = 0; good && i < all.size(); ++i) {
          const int from = static_cast<int>(i);
          good = all[i] == bytes_of(from, size_of(from, unit));
        }
        if (!good) {
          printf("rank %d: %s, unit %zu, at most %llu: not what the ranks had\n", rank, everywhere ? "all" : "one",
                 unit, static_cast<unsigned long long>(most));
          ++failures;
        }
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
