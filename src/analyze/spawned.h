// Spawned: what a run's own trace says of other jobs: which it spawned, whether it was spawned, and by which ports it
// met others.
//
// Plain functions. Needs the rows of all classes; of those that spawn jobs, or name ports, each such call is looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace/read/trace.h"

namespace cairn::analyze {

/// The process that spawned a job.
struct Spawner {
  std::string job;  ///< as the launcher names it
  uint64_t rank = 0;
  bool operator==(const Spawner &) const = default;
};
/// As far as the trace says so (trace::RunInfo::spawned_by).
std::optional<Spawner> spawner_of(const trace::RunInfo &run);

/// An MPI_Comm_spawn or MPI_Comm_spawn_multiple that succeeded.
struct Spawn {
  uint32_t rank = 0;       ///< of its root in MPI_COMM_WORLD
  uint64_t processes = 0;  ///< how many it asked for, together
};
/// Whether calls of that function are such.
bool spawns_jobs(uint32_t function);
/// What such a call asked for, on its root; nothing on others, of others, and of one that failed.
std::optional<uint64_t> spawned_processes(const trace::Row &row);
/// Rank by rank, those of one in order.
std::vector<Spawn> spawns_of(const trace::Trace &trace);

/// MPI_Comm_get_parent gave a communicator with the job that spawned this one.
bool was_spawned(const trace::Trace &trace);

/// Names of ports.
struct Ports {
  std::set<std::string> opened;  ///< by MPI_Open_port
  std::set<std::string> named;   ///< by calls that accept or connect
};
Ports ports_of(const trace::Trace &trace);

}  // namespace cairn::analyze
