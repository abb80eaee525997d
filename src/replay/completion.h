// Completion: calls that complete requests, or ask for messages, come out as they did, since what they found then is
// waited for first; or, where any order will do, they are repeated until as many are done.
//
// Threads: each its own plans; what is waited for may be made by another. Cost: nothing where all is there already.
#pragma once

#include <sched.h>

#include <cstddef>

#include "replay/plan.h"

namespace cairn::replay {

/// A value of that many bytes, as a word: integers with their sign.
Word load(const char *from, size_t bytes);

template <typename Ready>
void wait_until(Ready ready) {
  while (!ready()) sched_yield();
}

/// Until the call can find what it found. What it did not find then it does not see now.
void wait_for_outcome(Plan &plan, const Word *words);
/// Whether the call is given persistent requests.
bool has_persistent(const Plan &plan);
/// Of requests that complete in any order: repeats the call until as many are done as in the recording.
void complete_as_many(Plan *plan, const Word *words);

}  // namespace cairn::replay
