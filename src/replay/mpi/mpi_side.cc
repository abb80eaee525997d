#include "replay/mpi_side.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "replay/mpi/words.h"

namespace cairn::replay {

const size_t kHandleSize = sizeof(MPI_Comm);
const size_t kFileSize = sizeof(MPI_File);
const size_t kStatusSize = sizeof(MPI_Status);

std::string_view library_name() {
#ifdef OPEN_MPI
  return "Open MPI";
#elif defined(MPICH_VERSION)
  return "MPICH";
#else
  return "MPI";
#endif
}

void write_status(void *status, const StatusValues &values) {
  auto *to = static_cast<MPI_Status *>(status);
  *to = {};
  to->MPI_SOURCE = values.source;
  to->MPI_TAG = values.tag;
  to->MPI_ERROR = values.error;
  PMPI_Status_set_elements_x(to, MPI_BYTE, std::max<int64_t>(values.bytes, 0));
  PMPI_Status_set_cancelled(to, values.cancelled ? 1 : 0);
}

bool is_running() {
  int flag = 0;
  if (PMPI_Initialized(&flag) != MPI_SUCCESS || flag == 0) return false;
  return PMPI_Finalized(&flag) == MPI_SUCCESS && flag == 0;
}

bool takes_device_memory() {
  // Extensions of both, which other libraries have, too; what does not know them takes none.
  if (void *ask = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"); ask != nullptr) {
    return reinterpret_cast<int (*)()>(ask)() == 1;
  }
  constexpr int kCuda = 0;
  int flag = 0;
  void *ask = dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support");
  return ask != nullptr && reinterpret_cast<int (*)(int, int *)>(ask)(kCuda, &flag) == MPI_SUCCESS && flag != 0;
}

bool is_done(Word request) {
  const auto handle = from_word<MPI_Request>(request);
  if (handle == MPI_REQUEST_NULL) return true;
  int flag = 0;
  MPI_Status ignored;
  return PMPI_Request_get_status(handle, &flag, &ignored) != MPI_SUCCESS || flag != 0;
}

bool is_there(int source, int tag, Word comm) {
  int flag = 0;
  const auto handle = from_word<MPI_Comm>(comm);
  return PMPI_Iprobe(source, tag, handle, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
}

int rank_in(Word comm) {
  int rank = -1;
  PMPI_Comm_rank(from_word<MPI_Comm>(comm), &rank);
  return rank;
}

void go_on() {
  int flag = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

std::optional<uint32_t> dynamic_target(Word window, int rank) {
  const auto handle = from_word<MPI_Win>(window);
  int *flavor = nullptr;
  int found = 0;
  if (handle == MPI_WIN_NULL || rank < 0) return std::nullopt;
  if (PMPI_Win_get_attr(handle, MPI_WIN_CREATE_FLAVOR, static_cast<void *>(&flavor), &found) != MPI_SUCCESS ||
      found == 0 || *flavor != MPI_WIN_FLAVOR_DYNAMIC) {
    return std::nullopt;
  }
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  int place = MPI_UNDEFINED;
  PMPI_Win_get_group(handle, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &rank, world, &place);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return place == MPI_UNDEFINED ? std::nullopt : std::optional(static_cast<uint32_t>(place));
}

bool has_arrived(Word request, int partition) {
#if MPI_VERSION >= 4
  int flag = 0;
  return PMPI_Parrived(from_word<MPI_Request>(request), partition, &flag) != MPI_SUCCESS || flag != 0;
#else
  (void)request, (void)partition;
  return true;
#endif
}

int error_class(Word code) {
  int found = 0;
  if (static_cast<int>(code) == MPI_SUCCESS) return 0;
  return PMPI_Error_class(static_cast<int>(code), &found) == MPI_SUCCESS ? found : static_cast<int>(code);
}

void finalize() { PMPI_Finalize(); }

void abort_job(int code) {
  if (is_running()) PMPI_Abort(MPI_COMM_WORLD, code);
  _exit(code);
}

Span span_of(int64_t count, Word datatype) {
  const auto type = from_word<MPI_Datatype>(datatype);
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count true_lower = 0;
  MPI_Count true_extent = 0;
  if (type == MPI_DATATYPE_NULL || count <= 0) return {};
  if (PMPI_Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS ||
      PMPI_Type_get_true_extent_x(type, &true_lower, &true_extent) != MPI_SUCCESS) {
    return {};
  }
  const int64_t last = (count - 1) * extent;
  return {true_lower + std::min<int64_t>(last, 0), true_extent + std::max<int64_t>(last, -last)};
}

void add_up(std::vector<uint64_t> *numbers) {
  const int count = static_cast<int>(numbers->size());
  std::vector<uint64_t> sums(numbers->size());
  PMPI_Reduce(numbers->data(), sums.data(), count, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  *numbers = std::move(sums);
}

}  // namespace cairn::replay
