// Unsuccessful polls leave the sequence of calls as a number: how often MPI_Test found nothing before it found
// something differs every time and on every rank, and would make each iteration, and each rank, one of its own.
//
// A run of equal unsuccessful polls becomes one *counted* row (Counted of row_kind.h), whose last field says how often
// the call was made; a cycle of up to 16 such calls becomes as many counted rows (cycle is their number, and they
// agree on the count). That field is always a stream. A successful poll always has the counted row of its unsuccessful
// form before it, if only with 0 times: so ranks that had to wait and ranks that had not are one class.
//
// Nothing is expanded: the runs between calls are put together rule by rule. Cost: the grammar's terms times the length
// of the runs' descriptions. No state. (ScalaTrace 3 aggregates polls and forgets how many there were.)
#pragma once

#include <vector>

#include "trace/model/class_part.h"
#include "trace/model/record.h"

namespace cairn::trace {

/// For a class of one rank that nothing has moved out of. `packed` are its rows as recorded, `polls` says which of them
/// poll. Leaves it as it is, and gives false, if there are no polls, or if their runs are too irregular to describe.
/// Where it gives true the calls have not been parsed anew: move_by_cost does that.
bool fold_polls(const std::vector<Bytes> &packed, const std::vector<Poll> &polls, ClassPart *part);

}  // namespace cairn::trace
