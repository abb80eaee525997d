// RankCalls: the calls of one rank that a filter takes, in order, each with what its communicators are called then and
// which step it is in. For verbs that show calls one by one.
//
// Where the filter begins in the middle (Filter::from, a window of time, steps), it goes there (Events::seek): what
// communicators are called is then told by the calls before that make some, which are found in the grammar. Only where
// several threads made some are all calls gone through, since their order counts. Where it takes few functions or
// sites, or partners, tags and results that rows of equal calls name, stretches without any are passed over
// (next_row.h). Borrows all that it is given. One thread at a time. Costs what Events does for what is gone through,
// and for steps what a StepCounter does; an answer by the values of a distinct call is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "analyze/communicator_names.h"
#include "analyze/filter.h"
#include "analyze/next_row.h"
#include "analyze/sources.h"
#include "analyze/wanted_calls.h"
#include "trace/read/events.h"
#include "trace/read/steps.h"

namespace cairn::analyze {

class RankCalls {
 public:
  /// Is shown each call, taken or not.
  using See = std::function<void(const trace::Event &)>;
  /// `wanted` is of the same filter. `see`: where it is given, all calls from the first one on are gone through.
  RankCalls(const trace::Trace &trace, const Sources &sources, const Filter &filter, const WantedCalls &wanted,
            uint32_t rank, See see = {});
  RankCalls(const RankCalls &) = delete;
  RankCalls &operator=(const RankCalls &) = delete;

  /// The next call that the filter takes; nullptr at the end. Changes what the last one pointed to. `Filter::limit` is
  /// the caller's.
  const trace::Event *next();
  /// Of the call that `next` gave last.
  [[nodiscard]] const CommunicatorNames &names() const { return names_; }
  /// Likewise; nothing unless the filter asks for steps.
  [[nodiscard]] std::optional<uint64_t> step() const { return step_; }
  /// How many steps the rank has; nothing unless the filter asks for some.
  [[nodiscard]] std::optional<uint64_t> step_count() const;
  /// More than one that called MPI.
  [[nodiscard]] bool has_several_threads() const { return several_threads_; }
  /// All calls of the rank were gone through.
  [[nodiscard]] bool is_at_end() const { return at_end_; }
  /// Events::end.
  [[nodiscard]] const Result<void> &end() const { return events_.end(); }

  /// Whether such a filter leaves calls of a rank out.
  static bool chooses(const Filter &filter);

 private:
  void go_to_begin();
  /// Of a segment, by a call in it: rows of which some call may be taken, or makes communicators.
  [[nodiscard]] NextRow rows_that_may_be(const trace::Event &event) const;
  /// Nothing was taken for some calls, of which this is the last.
  void pass_over(const trace::Event &event);
  [[nodiscard]] bool is_in_window(const trace::Event &event) const;
  [[nodiscard]] bool takes(const trace::Event &event);

  const trace::Trace &trace_;
  const Filter &filter_;
  const WantedCalls &wanted_;
  See see_;
  bool chooses_;
  uint32_t rank_;
  bool several_threads_;
  trace::Events events_;
  std::unique_ptr<trace::StepCounter> steps_;  ///< nullptr: nobody asks for them
  uint64_t last_step_ = UINT64_MAX;            ///< that is wanted
  std::optional<uint64_t> step_;
  CommunicatorNames names_;
  struct Answer {
    bool wants = false;
    uint64_t names_version = 0;  ///< that it holds for; 0: for any
  };
  std::unordered_map<uint64_t, Answer> answers_;  ///< by class and call
  std::map<uint32_t, NextRow> next_rows_;         ///< by segment, of rows_that_may_be
  uint64_t in_vain_ = 0;                          ///< calls since one that was taken
  uint64_t patience_ = kLeastPatience;            ///< after so many of them it is asked where the next one is
  static constexpr uint64_t kLeastPatience = 16;
  bool ended_ = false;  ///< nothing more is taken
  bool at_end_ = false;
};

/// The steps of a rank that a filter asks for: of the main loop, or as Filter::step_at says; nullptr if it asks for
/// none.
std::unique_ptr<trace::StepCounter> steps_of(const trace::Trace &trace, const Sources &sources, const Filter &filter,
                                             uint32_t rank);

}  // namespace cairn::analyze
