// The loops of a sequence, nested, from its grammar: which of its parts stand several times in a row, whatever the
// grammar's rules are.
//
// A grammar shares what is equal; it does not say where a loop begins. So its symbols are put behind each other into a
// list of *items*, an item being a symbol, some times in a row, or a loop with a body of items. What is put behind the
// list is compared with what that ends in, as ScalaTrace does with each call as it comes (Noeth et al., JPDC 2009,
// section 2):
//
// - The list ends in the same items twice: they become a loop of two turns.
// - It ends in a loop and then in all of its body: one more turn.
// - What is put there is a loop whose turns end as the list does: its turns are turned round to begin as early as they
//   can, so that `a b (c a b)* c` is one loop of `a b c`.
// - It ends in a loop whose turns end as what is put there is: the last turn had more of that.
//
// An item is only compared when the next one has come and does not belong to it. Loops are the same if their bodies
// are, however many turns they have: a step that exchanges with three neighbours here and four there is one loop, of
// three to four turns. Items are compared by number.
//
// Where a rule stands many times in a row, it is put there a few times, until the list grows by the same turns each
// time; the others follow from that, so a loop of a million turns costs what a few cost. Where that is still too much
// (kMostCalls), each rule is made a list of its own, once, and put into those of others, its repetitions as one item: a
// turn may then begin in the middle of what the program repeats.
//
// Stateless; any thread. Cost: as said, each item compared with a few places; where nothing repeats that is the
// sequence.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "grammar/grammar.h"

namespace cairn::analyze {

/// A symbol, or a loop.
struct LoopItem {
  uint32_t symbol = 0;         ///< where there is no body
  uint32_t number = 0;         ///< equal for equal symbols, and for loops with equal bodies
  uint64_t times = 1;          ///< how often it is come to, in the whole sequence
  uint64_t turns = 1;          ///< of all these times together: how often the symbol, or the body, stands there
  uint64_t least = 1;          ///< turns at one time
  uint64_t most = 1;           ///< turns at one time
  uint64_t last = 1;           ///< turns the last time
  std::vector<LoopItem> body;  ///< of a loop: what one turn consists of

  [[nodiscard]] bool is_loop() const { return !body.empty(); }
};

/// Items made on the way, as a limit of time (some 100 ns each) and memory.
constexpr uint64_t kMostItems = uint64_t{1} << 26;

/// All of the sequence, in order; nothing if that takes more than `most` items on the way.
std::optional<std::vector<LoopItem>> loops_of(const grammar::Grammar &calls, uint64_t most = kMostItems);
/// The same of a sequence that is at hand.
std::vector<LoopItem> loops_of(std::span<const grammar::Symbol> calls);

}  // namespace cairn::analyze
