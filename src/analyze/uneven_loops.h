// The loops of a sequence whose turns differ in what they do: a step that unpacks what has come, or waits for it, and
// does the rest in between. Where no two turns need be equal there is nothing for loop_tree.h to find.
//
// A loop is seen by a call that each turn makes once, or some times in a row: between two of these most of what is done
// in one turn is done in most of them. Calls that only tell something (MPI_Wtime, MPI_Comm_rank) show none: programs
// make them wherever they like. Of the calls of which that is nearly as true as of the best one, that which is
// made most often is taken, so that what is found is the innermost loop of the kind. Turns begin with the first call of
// which that is true, and with those of one place in front of each. Of a turn is told which calls it makes, how often
// at least and at most, in the order in which most turns come to them first; not which one follows which. What stands
// before the loop and behind it is looked at in the same way.
//
// Stateless; any thread. Cost: all of the sequence, a few nanoseconds a call for each call that may be that one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analyze/loop_tree.h"

namespace cairn::analyze {

/// Whether a call may show where turns begin.
using ShowsTurns = std::function<bool(grammar::Symbol)>;

/// All of the sequence, in order; nothing where there is no such loop with a quarter of the calls.
std::optional<std::vector<LoopItem>> uneven_loops(std::span<const grammar::Symbol> calls, const ShowsTurns &shows);

/// Whether a list of loops whose turns are equal is told as it is: it is read at a glance, or most calls are in a few
/// loops each of whose turns makes about as many of them, and what else there is was done before, between and after.
bool tells_enough(const std::vector<LoopItem> &items);

/// What is told of `calls`, of which `items` are the loops whose turns are equal, where these do not tell enough: the
/// uneven loops if they take at most half as many items, unless their turns are but parts of what a few of `items`
/// tell as a step.
std::vector<LoopItem> or_uneven_loops(std::vector<LoopItem> items, std::span<const grammar::Symbol> calls,
                                      const ShowsTurns &shows);

}  // namespace cairn::analyze
