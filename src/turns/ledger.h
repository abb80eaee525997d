// Ledger: what each turn of one rank's loops does to the channels and communicators of the run (balance.h), found by
// going through the first and the last turns of each loop and past those between.
//
// The calls in between are the same (trace/read/repeats.h); whether they do the same is seen in the turns that are gone
// through: each behind the first must do what the second did, in the first turns as in the last, and nothing of which
// nobody knows whom it reaches.
//
// Borrows the scope. One thread. Cost: the calls that are gone through; memory with what they do.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyze/message_queues.h"
#include "analyze/rank_messages.h"
#include "base/result.h"
#include "turns/rank_loops.h"

namespace cairn::turns {

/// What is counted: the messages of a channel, or the collective calls of a communicator, or of a persistent operation
/// over it (ChannelKey::pair, its number).
struct Counted {
  enum class By : uint8_t { sender, receiver, member } by = By::member;
  analyze::ChannelKey key;
  auto operator<=>(const Counted &) const = default;
};
using Counts = std::map<Counted, uint64_t>;

struct LoopCounts {
  Loop loop;
  Counts each_turn;  ///< but the first
  Counts second;     ///< of these, how much there was when the second turn began
};

/// Of the loops that the rank's first ones are, as long as their turns do the same: what comes behind one whose turns
/// do not is left out, since nobody knows how far it was counted.
Result<std::vector<LoopCounts>> count_turns(const analyze::MessageScope &scope, uint32_t rank,
                                            const std::vector<Loop> &loops);

}  // namespace cairn::turns
