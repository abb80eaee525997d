// Reach: how much of a run is gone through for the messages of what is wanted.
//
// Of some ranks: these alone, where messages among them are asked. Of a window: from its begin on, as far as loops in
// front of it have equal turns (turns/left_out.h), until nothing more can come of it. So a part of a long run costs
// what is in it, where the run is regular.
#pragma once

#include "analyze/messages.h"
#include "base/result.h"
#include "export/scope.h"

namespace cairn::exporting {

/// Tells of the messages of what is wanted: those among the wanted ranks, and some that nobody asked for. Fails as
/// Messages::replay does. `arrivals` wants no meetings.
Result<void> replay_wanted(const Scope &scope, const analyze::Messages &messages, analyze::Arrivals *arrivals);

/// Sets Scope::received, where some call needs it. Costs a replay, of the senders to the wanted ranks as well. Fails
/// where the trace cannot tell its communicators.
Result<void> learn_received_sizes(Scope *scope);

}  // namespace cairn::exporting
