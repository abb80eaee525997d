#include "mpi/store/process.h"

#include <cstddef>

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

void Process::enter(Phase next) {
  phase.store(next);
  names.handles->end_epoch();
}

}  // namespace cairn::recorder
