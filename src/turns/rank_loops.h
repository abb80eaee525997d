// RankLoops: the loops of one rank whose turns are equal (trace/read/repeats.h), by numbers of its calls.
//
// Loops with one-sided access, which is judged by when it was, are none here, nor are those that make communicators,
// which are told apart by how many were made before, or that release something where references are counted; and ranks
// with several threads have none. Borrows the trace. One thread at a time. Cost: Repeats', once for each class, and
// some seeks a loop.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/messages.h"
#include "trace/read/events.h"
#include "trace/read/repeats.h"
#include "turns/balance.h"

namespace cairn::turns {

/// Turns may differ in how often they polled in vain.
struct Loop {
  uint64_t turns = 0;                           ///< more than kLead + kLeastTail
  std::array<uint64_t, kLead + 1> lead{};       ///< where the first ones begin, and the one behind them
  std::array<uint64_t, kLeastTail + 1> tail{};  ///< where the last ones begin, and where the last one ends
  [[nodiscard]] uint64_t between() const { return tail.front() - lead.back(); }
};

/// Of all classes of a trace, made when first asked for.
class AllRepeats {
 public:
  explicit AllRepeats(const trace::Trace &trace) : trace_(trace), repeats_(trace.class_count()) {}
  trace::Repeats &of(uint32_t class_index);

 private:
  const trace::Trace &trace_;
  std::vector<std::optional<trace::Repeats>> repeats_;
};

class RankLoops {
 public:
  RankLoops(const trace::Trace &trace, uint32_t rank, AllRepeats *repeats);
  /// Ascending. Of each only the turns that end at that call or before, where that is given: the last one may have
  /// fewer, and those behind it are not among them.
  std::vector<Loop> until(std::optional<uint64_t> call = std::nullopt);
  /// The first call of a turn of that one among them.
  uint64_t begin_of(size_t loop, uint64_t turn);
  /// Gives back the memory that these took.
  void close() { events_.reset(); }

  // For who goes through this rank alone, and wants to know what the calls of a part are: those that may be gone past.
  /// All that matters to a call from that one on is known by the others.
  std::vector<analyze::Cut> cuts_before(uint64_t call);
  /// All that comes of the calls before that one is seen in the others.
  std::vector<analyze::Cut> cuts_behind(uint64_t call);

 private:
  struct Place {
    uint32_t thread = 0;
    uint32_t segment = 0;
    trace::Repeat repeat;
  };
  /// How many turns of it end there or before.
  uint64_t turns_until(size_t loop, uint64_t call);

  const trace::Trace &trace_;
  uint32_t rank_;
  std::vector<Place> places_;
  std::optional<trace::Events> events_;  ///< once one is asked for
};

}  // namespace cairn::turns
