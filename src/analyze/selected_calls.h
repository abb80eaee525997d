// SelectedCalls: the distinct calls of some functions, rank by rank, with all their values and how often each was made.
//
// Borrows the trace. Which rows of a class are such calls is found out once, and what they share is made once, when it
// is first asked for. `of` costs what the distinct calls that were wanted cost, and holds them. One thread at a time.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "analyze/row_access.h"
#include "trace/read/events.h"

namespace cairn::analyze {

class SelectedCalls {
 public:
  /// The wanted calls of one sequence.
  struct Sequence {
    uint32_t class_index = 0;
    const RowScope *scope = nullptr;  ///< lives as long as the SelectedCalls
    std::vector<trace::CountedRow> calls;
  };
  using Wanted = std::function<bool(const spec::Function &)>;

  SelectedCalls(const trace::Trace &trace, Wanted wanted);

  /// In order of (thread, segment); sequences without such calls are left out.
  [[nodiscard]] std::vector<Sequence> of(uint32_t rank) const;
  /// The wanted calls of one sequence, in order of their rows.
  [[nodiscard]] std::vector<trace::CountedRow> in(const trace::SequenceView &sequence) const;
  /// A class has rows of a function that `which` says.
  static bool has(const trace::Trace &trace, uint32_t class_index, const Wanted &which);

 private:
  [[nodiscard]] bool is_wanted(uint32_t function) const {
    const auto all = spec::functions();
    return function < all.size() && wanted_(all[function]);
  }

  const trace::Trace &trace_;
  Wanted wanted_;
  struct OfClass {
    std::vector<bool> rows;  ///< is wanted; empty: none is
    RowScope scope;
  };
  [[nodiscard]] const OfClass &of_class(uint32_t index) const;
  mutable std::unordered_map<uint32_t, OfClass> classes_;
};

}  // namespace cairn::analyze
