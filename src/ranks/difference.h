// Difference: what one kind of ranks does that another does not, in words, from the loops of both.
//
// The two lists of loops and calls are lined up so that as much as possible stands beside its like (an alignment by
// dynamic programming, as of two texts; of loops those are alike that share most of their places), and so are the
// bodies of two loops that stand beside each other. What stands alone is told with how often it is made a turn of the
// loop around it; loops and calls that stand beside each other are told if they turn another number of times.
//
// Plain functions, any thread. Cost: for two lists of n and m items n times m, up to kMostPairs, beyond which items are
// only counted; no call is expanded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/loops.h"

namespace cairn::ranks {

constexpr uint64_t kMostPairs = uint64_t{1} << 22;

/// From 0, the same calls at the same places as often, to 1, no call of one is made by the other: visits of places that
/// only one has, of all visits of both, each place's taken by its square root so that one long loop does not hide all
/// else. Both must be of one LoopFinder.
double distance(const analyze::KindOfRank &one, const analyze::KindOfRank &other);

/// "makes 2 MPI_Sendrecv a turn at halo.c:41 that class 0 does not", those of most calls first. `other_name` is what
/// the other is called: "class 0". Never empty, for two kinds of one LoopFinder that are not the same.
std::vector<std::string> differences(const analyze::KindOfRank &one, const analyze::KindOfRank &other,
                                     const std::string &other_name);

}  // namespace cairn::ranks
