// What the recorder says of where a thread stands among its calls (base/mpi_place.h).
#include "base/mpi_place.h"

#include "mpi/call/thread.h"

extern "C" __attribute__((visibility("default"))) int cairn_recorder_place(CairnMpiPlace *place) {
  using namespace cairn::recorder;
  const Process *of = process;
  if (of == nullptr) return -1;
  *place = CairnMpiPlace{of->clock.origin() + of->run.begin_ns, 0, kCairnNoThread};
  const Thread *thread = current_thread;
  if (thread == nullptr || thread->sequence.calls == nullptr) return 0;
  if (thread->sequence.segment == cairn::trace::SequenceRecord::kEpilogue) return 0;
  place->thread = thread->number;
  place->calls = thread->spilled_calls + thread->sequence.calls->length();
  return 0;
}
