// What the launcher of an MPI job tells its processes in their environment: for those that never get so far as to ask
// MPI. Reads the environment at each call, so not beside setenv; no allocation, no errors.
#pragma once

#include <cstdlib>

namespace cairn {

/// The first of `names`, which end with a null, that holds a number; -1 if none does.
inline int number_from_environment(const char *const *names) {
  for (; *names != nullptr; ++names) {
    const char *value = std::getenv(*names);
    if (value != nullptr && value[0] >= '0' && value[0] <= '9') return std::atoi(value);
  }
  return -1;
}

/// The rank in MPI_COMM_WORLD; 0 if no launcher tells it.
inline int launched_rank() {
  static constexpr const char *kNames[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID", nullptr};
  const int rank = number_from_environment(kNames);
  return rank < 0 ? 0 : rank;
}

/// The number of the process among those of its job on its node; -1 if no launcher tells it.
inline int launched_on_node() {
  static constexpr const char *kNames[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
                                           "SLURM_LOCALID", nullptr};
  return number_from_environment(kNames);
}

/// What the launcher calls the job; nullptr if it does not tell.
inline const char *launched_job() { return std::getenv("PMIX_NAMESPACE"); }

/// "1518010369.3:2362343946": of a job that another one spawned, the process that did it, as job and rank, and what is
/// no matter here. nullptr: none, or not known. Open MPI's.
inline const char *launched_parent() { return std::getenv("OMPI_PARENT_PORT"); }

/// The size of MPI_COMM_WORLD; -1 if no launcher tells it.
inline int launched_size() {
  static constexpr const char *kNames[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", nullptr};
  return number_from_environment(kNames);
}

}  // namespace cairn
