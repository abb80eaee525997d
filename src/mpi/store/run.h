// Run: who this process is, and what was asked of its recording.
//
// Part of the Process at the front of the arena. src/mpi/finish writes it, when the recorder is attached and in
// MPI_Init; from then on any thread reads it. The texts that `config` points to and what `preload` points to are gone
// in a reader of a dead process's arena.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "mpi/preload/preload.h"
#include "mpi/store/common_clock.h"
#include "mpi/store/config.h"

namespace cairn::recorder {

struct Run {
  Config config;
  const CairnPreload *preload;
  int32_t rank;  ///< in MPI_COMM_WORLD; -1: not known yet
  int32_t size;
  int32_t launched_rank;  ///< what the launcher said, for those that do not come to know it; 0: nothing
  int32_t launched_size;
  int32_t pid;
  bool spawned;  ///< by another job, whose trace has the name that was asked for
  bool locked;   ///< the arena's file, for as long as the process lives
  bool lost;     ///< a line in the spool says that nothing is left of it if it is killed
  bool cut;      ///< there was no room for all of the arena in its file
  int64_t start_unix_ns;
  uint64_t job;  ///< rank 0's start, which it told the others in MPI_Init; 0: not known
  CommonClock common;
  uint64_t begin_ns;  ///< when MPI_Init began, or a recorded call before it, on the process's clock; 0: not known yet
  char host[256];
  char mpi_version[256];
  char recorder[128];  ///< "cairn 0.1.0 libmpich.so.12"
  char command[4096];
  char timing[512];        ///< timing/setting.h
  char launcher_job[128];  ///< as trace::RunInfo has these two
  char spawned_by[128];
  char excluded[512];  ///< patterns of what is left out on request

  /// A call began then that is, or will be, in the trace. By any thread.
  void begins(uint64_t ns) {
    const std::atomic_ref<uint64_t> first(begin_ns);
    uint64_t known = first.load(std::memory_order_relaxed);
    while ((known == 0 || ns < known) && !first.compare_exchange_weak(known, ns, std::memory_order_relaxed)) {
    }
  }
  /// How long after that a moment is; 0: before it.
  [[nodiscard]] uint64_t since_begin(uint64_t ns) const { return ns > begin_ns ? ns - begin_ns : 0; }
  [[nodiscard]] uint32_t told_rank() const { return static_cast<uint32_t>(rank < 0 ? launched_rank : rank); }
  [[nodiscard]] uint32_t told_size() const {
    const int32_t told = rank < 0 ? launched_size : size;
    return static_cast<uint32_t>(told < 1 ? 1 : told);
  }
  /// The name in `folder` of this process's file with that ending: no other process of the job has it.
  [[nodiscard]] std::string file_in(const std::string &folder, const std::string &ending) const {
    return folder + "/" + host + "." + std::to_string(pid) + "." + ending;
  }
};

}  // namespace cairn::recorder
