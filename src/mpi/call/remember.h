// Memos are made here: what is remembered of a call that was just encoded, so that the next one like it is recognised
// (recognise.h). By the thread that made the call; memory from the arena, without which there is no memo.
#pragma once

#include "mpi/call/encoder.h"
#include "mpi/call/thread.h"

namespace cairn::recorder {

/// Remembers the raw arguments with which `signature` was just encoded.
void remember(Thread &thread, const Frame &frame, Signature &signature, const Outcome &outcome);
/// For a waiting call that may be memoised: the names of its requests, taken before `encode` ends them.
void note_names(Thread &thread, const Frame &frame);

}  // namespace cairn::recorder
