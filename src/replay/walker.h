// Walker: makes the calls of one thread of a recorded rank, in order. The trace is read as its loops are, a call at a
// time: what a distinct call takes is worked out once (plan.h), and what is kept grows with the distinct calls, not
// with how often they were made.
//
// Calls that a function of the program made while MPI called it (a reduction's operator, an attribute's copy function)
// stand in front of the call that they are nested in. They are made again by what stands in for that function.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/heap_events.h"
#include "analyze/heard.h"
#include "analyze/thread_events.h"
#include "replay/drawn_gaps.h"
#include "replay/job.h"
#include "timing/call_time.h"
#include "trace/read/call_reader.h"
#include "trace/read/call_times.h"

namespace cairn::replay {

class Walker {
 public:
  /// `sequences`: of one thread of the job's rank, in order.
  Walker(Job *job, Standing *standing, std::vector<trace::SequenceView> sequences);
  Result<void> walk();
  /// Those of the call that is being made; none if they were made already. `status`: nullptr, or what a function of the
  /// program was given to tell of a request that it completes.
  void make_nested(void *status);
  [[nodiscard]] bool is_to_fail() const { return made_ != nullptr && made_->fails; }

 private:
  /// A call with those that are nested in it.
  struct Node {
    Plan *plan = nullptr;
    const trace::Row *row = nullptr;
    std::vector<Node> nested;
    uint64_t number = 0;  ///< among the thread's calls
  };
  Result<Plan *> plan_of(grammar::Symbol number);
  void happens(const trace::HeapEvent &event);
  Result<void> walk_sequence(const trace::SequenceView &sequence);
  Result<void> take(Node node);
  Result<void> make(Node *node);
  Result<void> gather(const Plan &plan, Word *words, Word *handles);
  /// What was cancelled in the recording is so here, and what was not is not.
  void force_cancellation(const Node &node, Word *words) const;
  /// What a displacement in a dynamic window is here.
  Result<void> aim(const Plan &plan, Word *words);
  void settle(Plan &plan, const Word *words, const Word *handles, Word result);
  void wait_for_gap(const Plan &plan);
  /// Made::calls and what stands beside it are of one thread.
  [[nodiscard]] bool keeps_sums() const { return !job_.several_threads || thread() == 0; }
  void fill(const Plan &plan, const Word *words);
  char *room(uint8_t parameter, size_t bytes);
  [[nodiscard]] tl::unexpected<Error> failed(const Node &node, const std::string &why) const;

  [[nodiscard]] uint32_t thread() const { return sequences_.front().thread; }

  Job &job_;
  Standing &standing_;
  std::vector<trace::SequenceView> sequences_;
  Planner planner_;
  analyze::Heard heard_;
  analyze::RowScope scope_;
  std::unique_ptr<trace::CallReader> reader_;
  std::vector<std::unique_ptr<Plan>> plans_;  ///< by the reader's numbers
  uint32_t class_index_ = 0;
  uint64_t read_ = 0;  ///< calls, of all sequences
  std::optional<trace::CallTimes> times_;
  std::optional<timing::CallTime> recorded_;  ///< of the call that comes next
  std::optional<DrawnGaps> drawn_gaps_;       ///< where gaps are waited for and the trace has their histograms alone
  uint64_t last_end_ns_ = 0;
  analyze::HeapEvents heap_;             ///< of the sequence
  analyze::ThreadEvents threads_;        ///< of the sequence
  std::vector<int64_t> ended_;           ///< segments that calls of `pending_` may still name
  std::vector<Node> pending_;            ///< nested ones whose call is still to come
  std::vector<Node> *nested_ = nullptr;  ///< of the call that is being made
  Result<void> nested_error_;
  const Plan *made_ = nullptr;  ///< the call that is being made
  size_t next_status_ = 0;      ///< of its statuses
  void *callback_status_ = nullptr;
  std::array<std::deque<std::vector<char>>, spec::kMaxParameters> rooms_;
};

}  // namespace cairn::replay
