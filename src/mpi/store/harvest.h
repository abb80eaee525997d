// harvest: from the recorder's tables, of this process or of one that died, to a trace::ProcessRecord.
//
// Reads only. For a dead process its arena must be mapped at the address where it lived (arena_file.h). Every grammar
// is checked on the way; one that was being changed when the process died is left out and the record says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/spool_header.h"
#include "mpi/store/process.h"
#include "trace/merge/part.h"
#include "trace/model/record.h"

namespace cairn::recorder {

/// `end_ns`: when the recording ended, on the process's clock. With what other threads than the caller were in, if the
/// program ends without MPI_Finalize: the caller's calls are recorded already.
Result<trace::ProcessRecord> harvest(const Process &of, uint64_t end_ns);

/// The bytes of a spool file: a header that says whose part it is, and the part.
Bytes spool_file_of(const Process &of, SpoolHeader::Kind kind, const char *status, const trace::Part &part);

/// A closed sequence alone, as a record of its process. Its thread and others may be recording meanwhile.
Result<trace::ProcessRecord> harvest_closed(const Process &of, const ClosedSequence &closed);

/// The same of a dead process, whose arena is the `readable` bytes from `of`: up to the last call that ended, and what
/// its threads were in (pending.h). `ended_unix_ns`: when it ended, if that is known; else it is taken to have ended at
/// the last moment of which the arena tells.
Result<trace::ProcessRecord> harvest_dead(const Process &of, size_t readable, std::optional<int64_t> ended_unix_ns);

/// Who a process is, without what it recorded.
trace::ProcessRecord identity_of(const Process &of);

/// Of a process that lives, as it is now: what its threads are in, what made its communicators, as far as that is in
/// memory, and of threads that are in no call the last one they made. Its memory changes meanwhile: the caller must
/// look whether it did.
Result<trace::ProcessRecord> harvest_living(const Process &of, size_t readable);

}  // namespace cairn::recorder
