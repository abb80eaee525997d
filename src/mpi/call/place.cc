#include "mpi/call/place.h"

#include "base/launcher.h"
#include "mpi/call/mpi_calls.h"

namespace cairn::recorder {

void find_place(Process &of, Need need) {
  if (of.run.rank >= 0) return;
  if (!of.progress.init_seen && mpi::initialized() && !mpi::finalized()) {
    mpi::place_in_world(&of.run.rank, &of.run.size);
    of.losses.note(Loss::unseen_init);
  } else if (need == Need::now) {
    of.run.rank = launched_rank();
    of.run.size = launched_size();
    if (of.run.size <= of.run.rank) of.run.size = of.run.rank + 1;
  }
}

}  // namespace cairn::recorder
