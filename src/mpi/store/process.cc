#include "mpi/store/process.h"

#include <cstddef>

#include "mpi/names/handles.h"

namespace cairn::recorder {

static_assert(offsetof(Process, names) + offsetof(Names, addresses) <= 64);

Process *process = nullptr;

void Process::enter(Phase next) {
  phase.store(next);
  names.handles->end_epoch();
}

}  // namespace cairn::recorder
