#include "mpi/store/process.h"

#include <cstddef>

#include "base/spool_header.h"
#include "mpi/names/handles.h"

namespace cairn::recorder {

static_assert(offsetof(Process, names) + offsetof(Names, addresses) <= 64);

Process *process = nullptr;

bool Process::has_calls() const {
  if (spilling.closed.load() != nullptr || spilling.spilled.load() != 0) return true;
  for (const RecordedThread *thread = threads.first.load(); thread != nullptr; thread = thread->next) {
    if (thread->sequence.calls != nullptr && thread->sequence.calls->length() != 0) return true;
  }
  return false;
}

const char *status_of(const Process &of) {
  if (of.progress.complete) return "complete";
  if (of.progress.initialized) return "exited without MPI_Finalize";
  return of.progress.has_session || of.run.rank >= 0 ? "complete" : kNotInitialised;
}

void Process::enter(Phase next) {
  phase.store(next);
  names.handles->end_epoch();
}

}  // namespace cairn::recorder
