// Spool: what processes left behind in a folder: finished traces of jobs that merged themselves, parts of jobs that did
// not, epilogues (calls after MPI_Finalize), reasons why a process was not recorded, arenas of processes that were
// killed. Reads and joins them; `record` and `merge` write the results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/spool_header.h"
#include "trace/merge/part.h"
#include "trace/read/trace.h"

namespace cairn::cli {

/// One *.part or *.epilogue file.
struct SpoolPart {
  std::string path;
  SpoolHeader header;
  Bytes bytes;
  size_t offset = 0;  ///< where the part begins in `bytes`
};

struct Spool {
  std::vector<std::string> traces;  ///< *.cairn, in order of their jobs
  std::vector<SpoolPart> parts;     ///< of kind main
  std::vector<SpoolPart> epilogues;
  std::vector<std::string> arenas;   ///< that nothing could be read from
  size_t recovered = 0;              ///< parts that come from arenas of killed processes
  std::vector<std::string> gpu;      ///< *.gpu: what processes traced in kernels
  std::vector<std::string> reasons;  ///< of unrecorded.<pid>, each once
  std::vector<std::string> files;    ///< all that was read and can go once the traces are written
  std::vector<Error> damaged;        ///< parts that cannot be read; they stay
};

/// What such a file at that path holds.
Result<SpoolPart> spool_part(const std::string &path, Bytes bytes);
/// Reads a folder. A folder that is not there is an empty spool.
Spool read_spool(const std::string &folder);
/// Reads one *.part or *.epilogue file into `spool`.
void read_spool_file(const std::string &path, Spool &spool);

/// Parts of one run of MPI_Init to MPI_Finalize: same command and size, disjoint ranks, begun within a minute.
struct Job {
  std::vector<const SpoolPart *> parts;
};
std::vector<Job> jobs_of(const std::vector<SpoolPart> &parts);

/// The bytes of a trace, but for those of blocks, of which there may be too many: they stay in the file they are in.
struct TraceBytes {
  Bytes bytes;
  uint64_t absent = 0;  ///< bytes of blocks, behind the first trace::kHeaderBytes of …
  std::string blocks;   ///< … this file
  [[nodiscard]] uint64_t size() const { return bytes.size() + absent; }
};
Result<TraceBytes> read_trace(const std::string &path);

/// A trace of that job, merged on all cores.
Result<TraceBytes> join(const Job &job);

/// The trace with what its processes called after MPI_Finalize.
Result<TraceBytes> with_epilogues(TraceBytes bytes, const std::string &path, const std::vector<SpoolPart> &epilogues);

/// The trace with its call sites resolved, as far as the modules are at hand.
Result<TraceBytes> with_sources(TraceBytes bytes, const std::string &path);

/// Writes the trace under another name and renames it. Without `force` an existing file stays, and that is an error.
Result<void> write_trace(const std::string &path, const TraceBytes &bytes, bool force);

/// run.cairn, run-2.cairn, run-3.cairn, …: the name of the `number`-th trace (from 1).
std::string numbered(const std::string &path, size_t number);

}  // namespace cairn::cli
