// The controlled logical clock: corrections of the ranks' clocks after which nothing arrives before it was sent.
//
// After R. Rabenseifner, "The controlled logical clock" (1997), and D. Becker, R. Rabenseifner, F. Wolf, J. Linford,
// "Scalable timestamp synchronization for event traces of message-passing applications" (Parallel Computing 35, 2009).
// An arrival that is told before what it came from is moved to when that began: the least that a message takes is not
// known, and 0 ns are enough for an order. Nothing is ever moved back.
//
//  - Forward: what follows an arrival on its rank moves with it, by 1 ns less every 100 ns, until it stands where it
//    was measured. So the distance between two calls there becomes shorter by 1 % at most.
//  - Backward: what comes before it is led up to the jump in the same way, over a hundred times its length, as far as
//    what was sent meanwhile does not come to begin after it arrived. Where it would, the distance to the next such
//    call becomes longer by more than 1 %.
//
// Three replays where something is to be put right (forward, backward, to see what came of it), else one. Memory goes
// with the jumps, and with what was sent shortly before them, not with the calls.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyze/messages.h"
#include "base/result.h"
#include "trace/read/corrections.h"

namespace cairn::analyze {

/// Shifts change by a ns in so many.
constexpr uint64_t kControl = 100;

/// A rank, and when it began (trace/model/record.h) on the axis of the run.
struct RankStart {
  uint32_t rank = 0;
  uint64_t ns = 0;
  uint64_t uncertainty_ns = 0;  ///< of where that is
};

/// Tells all arrivals of a run, each time the same.
using Arriving = std::function<Result<void>(Arrivals *)>;

/// What is reversed by more than the uncertainties of both ranks is told apart; all of it is put right. The shifts come
/// in the order of `ranks`.
Result<trace::Corrections> logical_clock(const std::vector<RankStart> &ranks, const Arriving &replay);

}  // namespace cairn::analyze
