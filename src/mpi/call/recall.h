// Recall: a call that the grammar did not foresee, but that was made before, is found by its arguments
// (store/recalled_memos.h).
//
// Where a program goes on with what completes first its calls are few distinct ones in an order that nobody can
// foresee. To encode such a call and look its row up takes thousands of instructions if it waits for requests; to hash
// what a memo compares (arguments, integer outputs, names of requests) and to compare it some 150. The memo found must
// still apply as one that was foreseen must (recognise.h): the table is a hint, of which nothing depends.
//
// A memo is kept from the second time on that its signature was encoded. What never repeats takes no memory, and no
// time but the look at `Thread::repeats`.
#pragma once

#include <cstdint>

#include "mpi/names/memo.h"

namespace cairn::recorder {

struct Frame;
struct Thread;

/// Of a call that returned and is not yet recorded: what `find` and `keep` are asked with. 0: it has none. If it has
/// one and waits for requests, or polls, their names are noted (remember.h).
uint64_t recall_key(Thread &thread, const Frame &frame);

/// The memo of a call that returned, found by its arguments, if it is that call again; all that the call does is done
/// then. nullptr, with nothing changed, if not. Leaves the key in `thread.recall_key`.
Memo *recall(Thread &thread, Frame &frame);

}  // namespace cairn::recorder
