// Nest: a sequence of calls as the loops that it is made of, the same for every run of a program but for how often each
// loop turns. A grammar is cut where the input happened to be cut, so that runs of 2 and of 3 stages have other rules;
// here the shortest repetitions are folded first, each as long as it goes and from the left, whatever the counts are.
// (ScalaTrace's RSDs and PRSDs, section 2, without the window.)
//
// Plain values. Cost: the calls times the distances at which they come again.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cairn::extrapolate {

/// What the first of some calls says besides its kind, as numbers: its tag, its buffer, … Where one call may be two of
/// another rank's, what is alike decides.
using Traits = std::array<uint64_t, 4>;

/// A kind of call, or what a loop holds, so many times in a row.
struct Nest {
  static constexpr uint32_t kLoop = UINT32_MAX;
  uint32_t call = kLoop;
  uint64_t count = 1;
  std::vector<Nest> body;  ///< of a loop
  uint64_t hash = 0;       ///< of all of it, but not of its own count
  Traits traits{};         ///< of a call
  uint64_t form = 0;       ///< of all of it without any counts
  [[nodiscard]] bool is_loop() const { return call == kLoop; }
  [[nodiscard]] bool same(const Nest &other) const { return hash == other.hash && count == other.count; }

  static Nest of(uint32_t call);
  static Nest loop(std::vector<Nest> body, uint64_t count);
  /// After the body has changed.
  void describe();
};

/// The sequence as a list of nests.
std::vector<Nest> fold(std::span<const uint32_t> calls);
/// What it was made of.
void expand(const std::vector<Nest> &list, std::vector<uint32_t> *out);

/// Makes turns comparable from list to list. What stands once where other lists have it in a loop becomes a loop of one
/// turn: a stage that a small run makes once. And where other lists have a loop's body several times over in one turn
/// of theirs, several turns are one: (a b)^10 beside (a^2 b a b^2)^5, (a b)^40 beside ((a^2 b)^4 (a b^2)^4)^5. `runs`:
/// which run each list is of; lists of one run are more alike.
void settle_turns(std::vector<std::vector<Nest>> *lists, const std::vector<size_t> &runs);

/// Sets the traits of all calls; `of` gives those at a place in the sequence that the list is of.
void set_traits(std::vector<Nest> *list, const std::function<Traits(size_t place)> &of);

}  // namespace cairn::extrapolate
