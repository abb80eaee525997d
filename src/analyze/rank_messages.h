// RankMessages: what the calls of one rank do to messages, step by step: reads them, keeps those that others may
// wait for (message_step.h), and leaves what they do to rank_requests.h (messages.h says what for).
//
// Borrows the trace and what is shared. One thread. Memory with the requests that are open, and with the steps that
// were read ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyze/gatherings.h"
#include "analyze/message_calls.h"
#include "analyze/message_queues.h"
#include "analyze/message_scope.h"
#include "analyze/message_step.h"
#include "analyze/messages.h"
#include "analyze/rank_communicators.h"
#include "analyze/rank_requests.h"
#include "analyze/sizes.h"
#include "analyze/window_calls.h"
#include "trace/read/events.h"

namespace cairn::analyze {

/// Follows what the calls of one rank wait for at windows (rank_windows.h).
class WindowFollower {
 public:
  virtual ~WindowFollower() = default;
  /// What a call does; nullptr: nothing that others wait for.
  virtual std::unique_ptr<WindowSync> read(const trace::Row &row, const RowScope &scope) const = 0;
  /// The rank's next such call. `communicator`: of a call that makes a window, what it is made over.
  virtual void act(const WindowSync &sync, std::optional<uint32_t> communicator, MessageStep *step) = 0;
  /// The rank's next call that makes or frees a group. `communicator`: which it names.
  virtual void see_group(const trace::Row &row, const RowScope &scope, std::optional<uint32_t> communicator) = 0;
};

/// Reads the calls of one rank and follows its requests.
class RankMessages {
 public:
  RankMessages(const MessageScope &scope, uint32_t rank, Channels *channels, Gatherings *gatherings,
               MessageCounts *counts, Arrivals *arrivals, const std::vector<Cut> &cuts = {}, bool times = true);
  RankMessages(RankMessages &&) = delete;  // its parts borrow each other

  /// The step at hand, whose receives all have their places; nullptr: there is none.
  MessageStep *step();
  /// The step that stands so many behind it; nullptr: there is none, or nothing can stand in another order than it
  /// ends.
  MessageStep *behind(size_t count);
  void next();
  /// No call that was not told of, and none that was told of and has not ended, began before: 0 if that is not known.
  [[nodiscard]] uint64_t none_before() const;
  /// For who does not wait for others: reads a call. What it does, where it does something, is behind all other steps.
  /// False: there is none.
  bool read();
  /// Shows all steps that were read and not asked for, and forgets them.
  template <typename Visit>
  void take_steps(const Visit &visit) {
    for (; !steps_.empty(); forget_first()) visit(static_cast<const MessageStep &>(*steps_.front()));
  }
  /// Event::index of the call behind the last one that was read, or of that at which calls are left out.
  [[nodiscard]] uint64_t next_call() const { return next_call_; }
  [[nodiscard]] const Result<void> &end() const { return events_.end(); }
  [[nodiscard]] const Posts &posts() const { return posts_; }
  /// Then posts of one channel may stand in another order than they were made.
  [[nodiscard]] bool several_threads() const { return several_threads_; }

 private:
  using StepPointer = std::unique_ptr<MessageStep>;
  struct KnownCall {
    std::unique_ptr<MessageCall> message;  ///< nullptr: it is none
    std::unique_ptr<WindowSync> window;    ///< the same
  };
  /// What calls do, by their numbers in the sequence of a thread. Equal ones recur; where they do not, keeping more of
  /// them helps nothing.
  struct Known {
    uint32_t class_index = UINT32_MAX;
    uint32_t segment = UINT32_MAX;
    std::unordered_map<uint32_t, KnownCall> calls;
  };

  [[nodiscard]] bool settled();
  const KnownCall &look_at(const trace::Event &event);
  void forget_first();

  const MessageScope &scope_;
  uint32_t rank_;
  trace::Events events_;
  std::vector<Cut> cuts_;  ///< the next one is the last
  uint64_t next_call_ = 0;
  Posts posts_;
  MessageCounts &counts_;
  Arrivals *arrivals_;
  RankCommunicators communicators_;
  RankRequests requests_;
  std::unique_ptr<WindowFollower> windows_;  ///< nullptr: nobody wants that
  Sizes sizes_;
  std::map<uint32_t, Known> known_;  ///< by thread
  std::deque<StepPointer> steps_;
  std::vector<StepPointer> spare_steps_;  ///< the last one is for the next call
  size_t settled_ = 0;                    ///< of the first one's receives
  bool ended_ = false;
  std::optional<uint64_t> last_end_ns_;  ///< of a call
  bool within_ = false;                  ///< the last one that was read was made by another one, which comes behind it
  uint64_t outside_ns_ = 0;              ///< since the last step
  bool any_ = false;                     ///< there was a step
  bool cut_short_ = false;               ///< the rank did not complete
  bool several_threads_ = false;         ///< then calls stand in the order of their ends, and may begin in another
};

}  // namespace cairn::analyze
