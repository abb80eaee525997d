// Reach: the messages of what is wanted, at its cost where the run is regular (turns/replay_part.h).
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
