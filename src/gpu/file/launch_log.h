// LaunchLog: what a process has traced so far, in a file that outlives it however it ends. Each launch stands there
// when it was made, as one that is in flight, and again when it has ended; `read_spooled` (spooled.h) gives them back.
// Streams and programs stand there once, so that a launch which does nothing new takes some 200 bytes and one for each
// of its warps.
//
// Owned by a session of libcairn-gpu.so; one thread at a time. Descriptors belong to the program, so the file is opened
// for each record: a dozen calls of the system and some us a launch, both records together. Where it cannot be written,
// launches that have ended are written later, in their order, once that is possible again: it is tried after one
// launch, two, four and so on, and by `finish`. Never raises SIGXFSZ. In a forked child it does nothing.
//
// While the process lives it holds a lock on the file, as on an arena (mpi/store/arena_file.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cairn/gpu/collect.h"
#include "gpu/file/launches.h"
#include "gpu/file/spooled.h"

namespace cairn::gpu {

class LaunchLog {
 public:
  /// The file will be called `<stem><host>.<pid>.<number>.gpu`.
  LaunchLog(std::string stem, uint32_t rank, std::string command, int64_t start_unix_ns);
  LaunchLog(const LaunchLog &) = delete;
  LaunchLog &operator=(const LaunchLog &) = delete;

  /// A launch was made; the first makes the file. 0, also where nothing was tried, or errno, as of those that follow.
  int began(const cairn_gpu_program &program, const LaunchRecord &launch, const Zero &zero);
  /// The launch that began last is known by this moment when it has ended.
  void made_at(uint64_t ns);
  /// `from.launches[launch]`, the last there, has ended.
  int ended(const cairn_gpu_program &program, const Launches &from, size_t launch, const Zero &zero);
  /// The process ends in order, or begins another trace: `from` are all launches that have ended.
  int finish(const Launches &from, const Zero &zero);
  /// Launches are in another file now, so this one goes.
  void remove();
  /// After either of them: what follows, and what is in flight, stands in a new file.
  void begin_anew();

  [[nodiscard]] const std::string &path() const { return path_; }
  /// How many launches that have ended are not in the file.
  [[nodiscard]] size_t unwritten() const { return unwritten_.size(); }

 private:
  struct InFlight {
    const cairn_gpu_program *program;
    LaunchRecord launch;
  };
  struct Unwritten {
    uint64_t id;
    const cairn_gpu_program *program;
    size_t launch;
  };
  uint64_t id_of(const cairn_gpu_program &program, const LaunchRecord &launch);
  void count();
  int flush(const Launches &from);
  int make();
  int ready();
  int put(uint64_t id, const cairn_gpu_program &program, const Launches &from, const LaunchRecord &launch);
  int write(const Bytes &record);
  [[nodiscard]] Bytes head() const;
  void let_go();

  std::string stem_;
  uint32_t rank_;
  std::string command_;
  int64_t start_unix_ns_;
  pid_t pid_;
  std::string path_;
  int number_ = 0;
  void *held_ = nullptr;  ///< what keeps the lock
  uint64_t end_ = 0;      ///< of the last whole record; 0: there is no file
  uint64_t made_ = 0;     ///< launches, which are numbered from 1
  Zero zero_;
  bool over_ = false;
  std::map<uint64_t, InFlight> in_flight_;
  std::vector<Unwritten> unwritten_;  ///< in their order
  uint64_t patience_ = 0;             ///< records that are not to be tried
  uint64_t next_patience_ = 1;
  std::map<const cairn_gpu_program *, uint64_t> programs_;  ///< by their numbers in the file
  std::vector<uint32_t> streams_;                           ///< by their numbers in `from`: 1 + that in the file, or 0
  uint32_t stream_count_ = 0;
};

}  // namespace cairn::gpu
