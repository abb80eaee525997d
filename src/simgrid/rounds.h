// Rounds: a collective operation as messages among the members of its communicator, for those that SMPI's replay has no
// action for: on a part of the processes, between two groups, nonblocking, among neighbours.
//
// A blocking operation goes through rounds; each begins when the one before is complete on that rank. n processes, b
// bytes a block, place i:
//
//   barrier, allreduce, scan     dissemination (Hensgen, Finkel and Manber 1988): in round k to i + 2^k, from i - 2^k.
//                                Allreduce of more than 64 KiB halves its messages on the way there and doubles them on
//                                the way back, as Rabenseifner's does; scan does not go round in a circle
//   bcast, reduce, gather,       binomial tree; gather and scatter with the blocks of the subtree
//   scatter
//   allgather, allgatherv        Bruck et al. 1997: rounds of 1, 2, 4, … blocks
//   reduce_scatter               halves, quarters, … of the whole, by dissemination
//   alltoall, alltoallv          pairwise: in round k to i + k, from i - k
//   gatherv, scatterv            straight to and from the root
//
// What is nonblocking is posted `at_once`, since nobody is there to begin a second round when the first is complete:
// the same messages, but bcast, reduce, gather and scatter go straight from and to the root. Between two groups all
// messages go straight, too.
//
// Plain function; costs the messages. What both sides of a message say of its size follows from what MPI demands to be
// the same on all ranks, or on those two.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyze/collective.h"
#include "simgrid/groups.h"

namespace cairn::simgrid {

using analyze::Collective;
using analyze::Operation;

/// A message to or from a rank in MPI_COMM_WORLD.
struct Part {
  uint32_t peer = 0;
  uint64_t bytes = 0;
};
using EachRound = std::function<void(const std::vector<Part> &sends, const std::vector<Part> &receives)>;

/// Not of `neighbors`.
void rounds_of(const Collective &collective, const View &view, bool at_once, const EachRound &each);

}  // namespace cairn::simgrid
