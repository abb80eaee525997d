// Balance: how many turns of which loops may be left out of a run, so that what is left of it matches as all of it
// does.
//
// Ranks match by counting: the n-th message of a channel is of its n-th receive, the n-th collective call of a member
// of a communicator meets the n-th of the others. Such a thing that is counted is an *account* here, and who counts it
// its *sides*: sender and receiver, or the members. A loop does so much to an account each turn. Turns may go if every
// side loses as much, at places that are near enough to each other:
//
// - Loops of all sides that lie near each other in an account lose turns together, so many that each loses as much of
//   it. (One side's turn may be two of the other's.) What is a loop on some sides only stays whole.
// - Behind kLead turns the next ones go, and kLeastTail to kMostTail stay at the end. Let a loop have counted to P
// behind
//   kLead turns. If all sides' P lie within what their last turns count, then what follows the gap on one side meets
//   what would have come in it on the other, and that is the same, since turns are. If from where all are in their
//   second turn until the first P lies a turn of the longest, all that meets within the loops is still met once.
//
// So the loops of all ranks hang together, and lose turns in fixed proportions, or none: what contradicts itself is
// left whole.
#pragma once

#include <cstdint>
#include <vector>

namespace cairn::turns {

constexpr uint64_t kLead = 4;
constexpr uint64_t kLeastTail = 2;
constexpr uint64_t kMostTail = 8;

/// What a loop does to an account.
struct Use {
  uint32_t loop = 0;
  uint64_t each_turn = 0;  ///< but the first; at least 1
  uint64_t second = 0;     ///< how far it was counted when the second turn began, in the whole run
};

struct Account {
  std::vector<std::vector<Use>> sides;  ///< of each its loops in the order in which they come
};

/// `turns`: how many each loop has. How many of each go. Cost: the uses.
std::vector<uint64_t> turns_to_leave_out(const std::vector<uint64_t> &turns, const std::vector<Account> &accounts);

}  // namespace cairn::turns
