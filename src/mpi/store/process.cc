#include "mpi/store/process.h"

#include <cstddef>
#include <cstring>

#include "mpi/names/handles.h"

namespace cairn::recorder {

static_assert(offsetof(Process, names) + offsetof(Names, addresses) <= 64);

Process *process = nullptr;

void Losses::note(const char *why) {
  if (reason[0] == '\0') strncpy(reason, why, sizeof reason - 1);
}

void Process::enter(Phase next) {
  phase.store(next);
  names.handles->end_epoch();
}

}  // namespace cairn::recorder
