// Meeting: calls that have to do with other jobs: that spawn one, or that open or name a port. What such a call is
// given is known when it is made, not when it is planned.
//
// A job that the program spawned is one of this program in a replay, on that job's trace; the command and its arguments
// are others, all else is as it was.
#pragma once

#include <optional>

#include "replay/other_jobs.h"
#include "replay/plan.h"

namespace cairn::replay {

/// What the call has to do with other jobs; of a call on all processes of a communicator, at its root alone. nullopt:
/// nothing. `succeeded`: in the recording.
std::optional<Meeting> meeting_of(const trace::Row &row, bool succeeded);

/// Before the call: puts what it is given into its words, which point into `meeting`. `settings`: words that a spawned
/// process is given, too.
Result<void> prepare(Meeting *meeting, OtherJobs *jobs, const std::vector<std::string> &settings, Word *words);
/// After a call that succeeded.
Result<void> conclude(const Meeting &meeting, OtherJobs *jobs, const Word *words);

}  // namespace cairn::replay
