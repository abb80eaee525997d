#include "arrays/layer/messages.h"

#include <algorithm>

#include "arrays/layer/next.h"

namespace cairn::arrays {
namespace {

/// Calls `some(done, bytes, status)` until `size` bytes are done or it did nothing.
template <typename Some>
int move(size_t *done, size_t size, Some some) {
  while (*done < size) {
    const int wanted = static_cast<int>(std::min<uint64_t>(kMostAtOnce, size - *done));
    MPI_Status status{};
    if (const int error = some(*done, wanted, &status); error != MPI_SUCCESS) return error;
    int moved = 0;
    MPI_Get_count(&status, MPI_BYTE, &moved);
    if (moved <= 0 || moved > wanted) break;
    *done += static_cast<size_t>(moved);
  }
  return MPI_SUCCESS;
}

}  // namespace

int share(Bytes *bytes, MPI_Comm comm) {
  uint64_t size = bytes->size();
  int error = MPI_Bcast(&size, 1, MPI_UINT64_T, 0, comm);
  bytes->resize(size);
  for (uint64_t at = 0; at < size && error == MPI_SUCCESS; at += kMostAtOnce) {
    const int some = static_cast<int>(std::min<uint64_t>(kMostAtOnce, size - at));
    error = MPI_Bcast(bytes->data() + at, some, MPI_BYTE, 0, comm);
  }
  return error;
}

int gather(const Bytes &own, MPI_Comm comm, bool everywhere, std::vector<Bytes> *all, uint64_t most) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const uint64_t size = own.size();
  uint64_t longest = size;
  int error = MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_UINT64_T, MPI_MAX, comm);
  if (error != MPI_SUCCESS) return error;
  const bool here = everywhere || rank == 0;
  std::vector<uint64_t> sizes(here ? static_cast<size_t>(ranks) : 0);
  error = everywhere ? MPI_Allgather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm)
                     : MPI_Gather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, comm);
  if (error != MPI_SUCCESS) return error;
  all->assign(sizes.size(), {});
  // MPI counts in ints: so many bytes of each rank at a time.
  const uint64_t each = std::max<uint64_t>(most / static_cast<uint64_t>(ranks), 1);
  std::vector<int> counts(sizes.size());
  std::vector<int> begins(sizes.size());
  Bytes bytes;
  for (uint64_t done = 0; done < longest; done += each) {
    const auto part_of = [&](uint64_t of) { return static_cast<int>(std::min(each, of - std::min(of, done))); };
    int total = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      counts[i] = part_of(sizes[i]);
      begins[i] = total;
      total += counts[i];
    }
    bytes.resize(static_cast<size_t>(total));
    const uint8_t *from = own.data() + std::min(size, done);
    error =
        everywhere
            ? MPI_Allgatherv(from, part_of(size), MPI_BYTE, bytes.data(), counts.data(), begins.data(), MPI_BYTE, comm)
            : MPI_Gatherv(from, part_of(size), MPI_BYTE, bytes.data(), counts.data(), begins.data(), MPI_BYTE, 0, comm);
    if (error != MPI_SUCCESS) return error;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const auto begin = bytes.begin() + begins[i];
      (*all)[i].insert((*all)[i].end(), begin, begin + counts[i]);
    }
  }
  return MPI_SUCCESS;
}

int write_bytes(MPI_File file, uint64_t at, ByteView bytes) {
  size_t done = 0;
  const int error = move(&done, bytes.size(), [&](size_t from, int some, MPI_Status *status) {
    const uint64_t to = at + from;
    return CAIRN_NEXT(MPI_File_write_at)(file, static_cast<MPI_Offset>(to), bytes.data() + from, some, MPI_BYTE,
                                         status);
  });
  return error == MPI_SUCCESS && done < bytes.size() ? MPI_ERR_NO_SPACE : error;
}

int read_bytes(MPI_File file, uint64_t at, std::span<uint8_t> bytes) {
  size_t done = 0;
  const int error = move(&done, bytes.size(), [&](size_t from, int some, MPI_Status *status) {
    const uint64_t begin = at + from;
    return CAIRN_NEXT(MPI_File_read_at)(file, static_cast<MPI_Offset>(begin), bytes.data() + from, some, MPI_BYTE,
                                        status);
  });
  // Where the file ends: what is missing fails its checksum.
  if (error == MPI_SUCCESS) std::ranges::fill(bytes.subspan(done), uint8_t{0});
  return error;
}

}  // namespace cairn::arrays
