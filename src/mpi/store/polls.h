// polls: which of the recorded rows ask whether something has happened, and what a successful one would have been had
// it found nothing. From the spec's tables alone. No state; one thread.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "trace/model/record.h"

namespace cairn::recorder {

/// One for each packed row; empty if none of them polls. Calls that failed are no polls.
std::vector<trace::Poll> polls_of(const std::vector<Bytes> &rows);

}  // namespace cairn::recorder
