// Strip: what ranks did over a window of time, in columns of equal length and lines of one or several ranks each: how
// much of it they were outside MPI, and in calls of which kind. Timeline gives strips of any window, and single calls.
//
// Where a trace has the time of each call (`--timing lossless`, or within a bound), a strip is of these times, on the
// axis of the run (trace/read/axis.h), and costs the calls of the window. Elsewhere it is of an axis that is made from
// the class's grammar (row_shares.h), on which each rank begins at 0: it costs the grammar, whatever the number of
// calls and ranks, since all ranks of a class have one line.
//
// Calls nested in others are part of those. Of a rank with several threads all are summed; on an axis that is made each
// thread begins at 0. What a line holds is the sum of its ranks: divided by their number it is their mean.
//
// A Timeline keeps what it needs again: of up to kKeptRanks ranks the block of calls that was asked for last and its
// indices (some MB each, where calls have times), of classes their sums, up to kKeptBytes. One thread at a time; a
// strip of measured times takes all cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "timeline/class_axis.h"
#include "timeline/kinds.h"
#include "timeline/made_calls.h"
#include "timeline/rank_fill.h"
#include "trace/read/trace.h"

namespace cairn::timeline {

/// Which ranks share a line where there are more of them than lines.
enum class Fold : uint8_t {
  neighbours,  ///< those whose numbers are next to each other
  classes,     ///< those of the same classes; then classes that are next to each other, by their lowest rank
};

struct Wanted {
  std::vector<uint32_t> ranks;  ///< ascending
  uint64_t begin_ns = 0;
  uint64_t end_ns = UINT64_MAX;  ///< as far as the run goes
  size_t columns = 1;
  size_t lines = SIZE_MAX;  ///< at most so many
  Fold fold = Fold::neighbours;
  /// No more calls are to be gone through: where the window has more, the strip says so and has no times.
  uint64_t most_calls = UINT64_MAX;
};

struct Strip {
  AxisKind axis = AxisKind::measured;
  Edges edges;
  size_t kinds = 0;
  std::vector<std::vector<uint32_t>> ranks;  ///< of each line, ascending
  std::vector<uint64_t> ns;                  ///< lines × columns × kinds
  /// Calls that were gone through, or rows and sums of grammars.
  uint64_t steps = 0;
  /// Set where there are more calls than Wanted::most_calls: about how many. Then `ns` is empty.
  std::optional<uint64_t> too_many;

  [[nodiscard]] size_t lines() const { return ranks.size(); }
  [[nodiscard]] std::span<const uint64_t> at(size_t line, size_t column) const {
    return std::span(ns).subspan((line * edges.columns + column) * kinds, kinds);
  }
};

/// A single call.
struct Call {
  uint64_t index = 0;     ///< among those of its thread
  uint64_t begin_ns = 0;  ///< on the timeline's axis
  uint64_t end_ns = 0;
  uint32_t class_index = 0;
  uint32_t row = 0;  ///< of the class (Trace::row_head, Trace::row)
  uint8_t kind = 0;
  uint32_t depth = 0;  ///< what is nested in others; on an estimated axis it takes no time
};
struct Calls {
  std::vector<Call> all;
  bool more = false;  ///< there are others in the window
};

class Timeline {
 public:
  static constexpr size_t kKeptRanks = 64;
  static constexpr size_t kKeptBytes = size_t{64} << 20;

  /// Borrows both.
  Timeline(const trace::Trace &trace, const Kinds &kinds);
  Timeline(const Timeline &) = delete;
  Timeline &operator=(const Timeline &) = delete;

  [[nodiscard]] AxisKind axis() const { return axis_; }
  [[nodiscard]] const Kinds &kinds() const { return kinds_; }
  /// Where the last of these ranks ends.
  [[nodiscard]] uint64_t end_ns(const std::vector<uint32_t> &ranks);

  /// Fails where times cannot be read.
  Result<Strip> strip(const Wanted &wanted);

  // Of one thread of a rank. Calls are numbered from 0, all segments of the thread together.

  /// Those that a window has a part of, in their order, at most so many.
  Result<Calls> calls(uint32_t rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, size_t most);
  /// The first call that ends after `ns`; nothing if none does.
  Result<std::optional<Call>> call_after(uint32_t rank, uint32_t thread, uint64_t ns);
  /// The call of that index; nothing if there are not so many, or if the trace has no time of it.
  Result<std::optional<Call>> call(uint32_t rank, uint32_t thread, uint64_t index);
  /// How many there are.
  Result<uint64_t> call_count(uint32_t rank, uint32_t thread);

 private:
  friend class Overview;
  /// The classes of a rank's sequences, in order of (thread, segment).
  using Shape = std::vector<uint32_t>;
  /// So many ranks of a line.
  struct InLine {
    size_t line = 0;
    uint64_t ranks = 0;
  };
  struct Lines {
    std::vector<std::vector<uint32_t>> ranks;
    std::vector<size_t> of_rank;  ///< by place among the wanted ranks
  };
  struct SequenceOfThread {
    SequenceCalls *calls = nullptr;
    uint32_t class_index = 0;
    uint64_t first_call = 0;  ///< in the thread
  };

  /// The number of a rank's shape; nothing if the trace does not have the rank.
  std::optional<size_t> shape_of(uint32_t rank);
  [[nodiscard]] Lines lines_of(const Wanted &wanted);
  [[nodiscard]] Edges edges_of(const Wanted &wanted);
  /// By shape, which lines have ranks of it.
  std::map<size_t, std::vector<InLine>> shapes_of(const Wanted &wanted, const Lines &lines);
  std::shared_ptr<ClassAxis> class_axis(uint32_t class_index);
  Ticks length_of(uint32_t class_index);
  /// Calls `each(class_index, begin)` for the classes of a shape.
  template <typename Each>
  void each_class(const Shape &shape, const Each &each);
  /// Adds what ranks of a shape did to the lines that have some.
  void add_shape(const Shape &shape, const std::vector<InLine> &in_lines, Strip *strip);
  void keep(const std::vector<uint32_t> &ranks);
  Result<void> add_measured(const Wanted &wanted, const Lines &lines, Strip *strip);
  Result<std::optional<uint64_t>> too_many(const Wanted &wanted, const Edges &edges);
  Result<std::vector<SequenceOfThread>> sequences_of(uint32_t rank, uint32_t thread);
  [[nodiscard]] Call call_of(const SequenceOfThread &sequence, const SequenceCalls::Call &call) const;

  const trace::Trace &trace_;
  const Kinds &kinds_;
  AxisKind axis_;
  RowShares shares_;
  std::vector<Shape> shapes_;
  std::vector<uint32_t> shape_of_rank_;  ///< once somebody asked; UINT32_MAX: none
  std::map<uint32_t, std::shared_ptr<ClassAxis>> classes_;
  size_t kept_bytes_ = 0;
  std::map<uint32_t, Ticks> lengths_;                                 ///< by class
  std::map<uint32_t, std::unique_ptr<RankCalls>> ranks_;              ///< measured
  std::map<uint32_t, std::vector<std::unique_ptr<MadeCalls>>> made_;  ///< by rank and sequence
};

/// By sort, of a Timeline that is made for it.
Result<Strip> strip_of(const trace::Trace &trace, const Wanted &wanted);

}  // namespace cairn::timeline
