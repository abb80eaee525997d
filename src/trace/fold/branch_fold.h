// Branches leave the sequence of calls as numbers: what a program does because a poll found something, and does not
// because it found nothing, would otherwise make each iteration, and each rank, one of its own.
//
// Example: a stencil asks MPI_Testall whether its halo is there; if not it computes on and calls MPI_Waitall. Its steps
// are "Testall finds all" and "Testall finds nothing, Waitall", in another order on each rank. Both become
//
//   Testall, nothing found (n times)   Testall, found (0 or 1 times)   Waitall (0 or 1 times)
//
// so that all steps, and all ranks, are one; which way each went are streams (Optional of row_kind.h, for calls of an
// arm; polls within an arm stay counted, 0 times where it was not taken).
//
// A branch is found by what can follow what, among groups of calls (class_part.h): behind a poll that found nothing
// (`poll`, which fold_polls puts in front of each successful one too) comes the same poll, successful, and nothing else
// comes before that. From there on calls that can only follow each other are one *arm* of the branch. The other arm is
// what else comes behind the poll, if that is one group which comes nowhere else; or there is none. Both arms must come
// to a call in common. An arm that has another branch within is one once that is folded: a few rounds. Calls that
// others are made in, or that are made in others, stay as they are: who makes the calls again makes those within by
// themselves. So do calls that make communicators, types and the like (Poll::stays): readers look for their rows.
//
// Call sites are numbered as a rank comes to them: ranks that first went another way have numbers of their own, and
// are a class of their own.
//
// Nothing is expanded: each rule is written anew, once for each way in which what follows it matters. Cost: the
// grammar's terms, a few times. No state.
#pragma once

#include <vector>

#include "grammar/grammar.h"
#include "trace/fold/counted_rows.h"
#include "trace/model/record.h"

namespace cairn::trace {

/// For what fold_polls makes of a rank's sequence: `calls` over `rows`, which get those that are counted now. `polls`
/// says which of the recorded rows must not be optional.
grammar::Grammar fold_branches(grammar::Grammar calls, const std::vector<Poll> &polls, CountedRows *rows);

}  // namespace cairn::trace
