// Outcome: what encoding a call told besides its row, for the memo that may be made of it (remember.h).
#pragma once

#include "mpi/names/handles.h"

namespace cairn::recorder {

struct Outcome {
  bool lasting_addresses = true;   ///< an end of what its buffers lie in would be noticed
  bool implied_status = true;      ///< every status was as implied
  bool array_as_left = false;      ///< its array of requests was as such a call left it last, and stays so
  HandleEntry *created = nullptr;  ///< the request created
  Posted posted = {PostedKind::nothing, 0, 0, -1};
};

}  // namespace cairn::recorder
