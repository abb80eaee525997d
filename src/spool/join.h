// From what lies in a spool to a trace: parts of a job joined, epilogues appended, call sites resolved, written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "spool/contents.h"
#include "spool/jobs.h"

namespace cairn::spool {

/// The bytes of a trace, but for those of blocks, of which there may be too many: they stay in the file they are in.
struct TraceBytes {
  Bytes bytes;
  uint64_t absent = 0;  ///< bytes of blocks, behind the first trace::kHeaderBytes of …
  std::string blocks;   ///< … this file
  [[nodiscard]] uint64_t size() const { return bytes.size() + absent; }
};
Result<TraceBytes> read_trace(const std::string &path);

struct Joined {
  size_t ranks = 0;  ///< 0: there is no trace
  TraceBytes trace;
  std::vector<Error> damaged;  ///< parts that are not in it
};
/// The run's trace as it lies there, or of its sound parts, merged on all cores.
Result<Joined> trace_of(const Run &run);

/// The trace with what its processes called after MPI_Finalize.
Result<TraceBytes> with_epilogues(TraceBytes bytes, const std::string &path, const std::vector<PartFile> &epilogues);

/// The trace with its call sites resolved, as far as the modules are at hand.
Result<TraceBytes> with_sources(TraceBytes bytes, const std::string &path);

/// Whether a trace may be written to `path`, which the user calls `shown`: `force` overwrites a trace, and nothing
/// else.
Result<void> may_write(const std::string &path, const std::string &shown, bool force);

/// Writes the trace under another name and renames it. Without `force` an existing file stays, and that is an error.
Result<void> write_trace(const std::string &path, const TraceBytes &bytes, bool force);

/// The trace at `path`, if one is there, is called `path`.old from now on; an earlier trace of that name goes. The new
/// name, or nothing where there was no trace. Error: what is called `path`.old is no trace, or nothing may be renamed.
Result<std::string> set_aside(const std::string &path);

/// run.cairn, run-2.cairn, run-3.cairn, …: the name of the `number`-th trace (from 1).
std::string numbered(const std::string &path, size_t number);

}  // namespace cairn::spool
