// HeapEvents: what became of the heap segments that MPI saw, and how large allocations on devices were
// (trace::DeviceEvent), between the calls of one sequence as they are gone through.
//
// A segment begins with the call that names it first, and is there before that call; it ends where the program freed
// it. An event is told by the calls before it (trace::HeapEvent); those that chance repeats (spec::varies_by_chance)
// are not counted, so that where such calls are, an event stands behind them.
//
// What a damaged or foreign trace says is passed on only if it can be: numbers from 0 to kMostNumber, sizes below
// 2^47, which on a device is not 0. Owns what it needs of the trace. One thread. Cost: as a walk through the grammar of
// the events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "grammar/grammar.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

class HeapEvents {
 public:
  static constexpr int64_t kMostNumber = (int64_t{1} << 31) - 1;

  /// Nothing ever happens.
  HeapEvents() = default;
  HeapEvents(const trace::Trace &trace, const trace::SequenceView &sequence);

  /// Before a call of this function: calls `happens(event)` for each event that stands there, in order.
  template <typename Happens>
  void before_call(uint32_t function, Happens happens) {
    if (next_ == nullptr || !counts(function)) return;
    for (; next_ != nullptr && left_ == 0; go_on()) happens(*next_);
    if (next_ != nullptr) --left_;
  }
  /// After the last call of the sequence.
  template <typename Happens>
  void at_end(Happens happens) {
    for (; next_ != nullptr; go_on()) happens(*next_);
  }

 private:
  static bool counts(uint32_t function);
  static bool can_be(const trace::HeapEvent &event);
  void go_on();
  friend std::map<int64_t, uint64_t> device_sizes(const trace::Trace &trace, uint32_t rank);

  std::optional<trace::HeapHistory> history_;
  std::optional<grammar::Walker> walker_;
  const trace::HeapEvent *next_ = nullptr;  ///< nullptr: there is none left
  uint64_t left_ = 0;                       ///< calls that count before it
};

/// The most bytes that the allocations of each number had on devices, of all that one rank named. Cost: as reading the
/// distinct events of its sequences.
std::map<int64_t, uint64_t> device_sizes(const trace::Trace &trace, uint32_t rank);

}  // namespace cairn::analyze
