// SelectedReader: the calls of some groups of a sequence in their order, each with all its values; the others are left
// out, and cost nothing.
//
// For who follows what some calls make of objects (communicators, datatypes, requests) through a rank's life. All rows
// of a function at a site are chosen together, and none that stands for many calls (Structure::RowHead::many): what
// polls, or drains an array of requests, is only understood among all others (call_reader.h). Borrows the trace. One
// thread at a time. Cost: the grammar once, then O(1) amortised a chosen call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "trace/read/events.h"
#include "trace/read/trace.h"

namespace cairn::trace {

class SelectedReader {
 public:
  using Chosen = std::function<bool(const Structure::RowHead &)>;
  SelectedReader(const Trace &trace, const SequenceView &sequence, const Chosen &chosen);
  ~SelectedReader();
  SelectedReader(const SelectedReader &) = delete;
  SelectedReader &operator=(const SelectedReader &) = delete;
  /// The next chosen call; nullptr at the end. Valid until the next call of this.
  const Row *next();
  /// How many chosen rows lie before the one at `row` of the class's sequence (Event::row_place). Costs what PrefixSums
  /// say (grammar/prefix_sums.h), the first time what making one does.
  [[nodiscard]] uint64_t rows_before(uint64_t row) const;

 private:
  struct State;
  std::unique_ptr<State> state_;  ///< nullptr: there is none
};

}  // namespace cairn::trace
