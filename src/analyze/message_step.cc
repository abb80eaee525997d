#include "analyze/message_step.h"

namespace cairn::analyze {

void MessageStep::clear() {
  call = {};
  timed = false;
  outside_ns = 0;
  sends.clear();
  completes.clear();
  arriving.clear();
  enters.clear();
  leaves.clear();
  lock.reset();
  begun = false;
  arrived = 0;
  left = 0;
}

}  // namespace cairn::analyze
