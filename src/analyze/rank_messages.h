// RankMessages: what the calls of one rank do to messages, step by step, with its requests followed from the calls that
// made them to those that completed them (messages.h).
//
// Borrows the trace and what is shared. One thread. Memory with the requests that are open, and with the steps that
// were read ahead.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/cancellations.h"
#include "analyze/communicator_names.h"
#include "analyze/gatherings.h"
#include "analyze/message_calls.h"
#include "analyze/message_queues.h"
#include "analyze/message_scope.h"
#include "analyze/messages.h"
#include "analyze/partitions.h"
#include "analyze/sizes.h"
#include "analyze/topology.h"
#include "analyze/window_calls.h"
#include "trace/read/events.h"

namespace cairn::analyze {

/// A call of a rank that sends, receives or meets.
struct MessageStep {
  CallTime call;
  bool timed = false;
  uint64_t outside_ns = 0;  ///< Arrivals::begun
  struct Sending {
    ChannelKey key;
    SentPointer message;
  };
  std::vector<Sending> sends;
  std::vector<SentPointer> completes;  ///< sends, of this call or of earlier ones
  struct Arriving {
    ReceivePointer receive;
    enum class How : uint8_t { received, probed, looked_at } how = How::received;  ///< the last stays in the queue
  };
  std::vector<Arriving> arriving;
  std::vector<MeetingPart> enters;
  std::vector<MeetingPart> leaves;
  std::optional<LockCall> lock;
  bool begun = false;
  size_t arrived = 0;  ///< of `arriving`
  size_t left = 0;     ///< of `leaves`

  /// As made, but for the room of its lists.
  void clear();
};

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
  struct NameHash {
    size_t operator()(const HandleName &name) const;
  };
  /// A collective operation that each start of a request is one of.
  struct PersistentMeeting {
    Gatherings::Key next;
    uint32_t operation = 0;
    MeetingPart part;
  };
  struct Request {
    bool persistent = false;
    std::optional<Envelope> send = std::nullopt;
    std::optional<Envelope> receive = std::nullopt;
    std::optional<uint32_t> communicator = std::nullopt;
    ReceivePointer active = nullptr;
    SentPointer sending = nullptr;
    std::optional<MeetingPart> part = std::nullopt;
    std::optional<uint64_t> bytes = std::nullopt;  ///< that each start sends
    MarkPointer content = nullptr;                 ///< of each start
    std::shared_ptr<PersistentMeeting> meets = nullptr;
    Partitions partitions{};
    uint32_t pair = 0;  ///< ChannelKey
  };
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
  void see_topology(const trace::Row &row, const RowScope &scope, const NewCommunicator *made);
  void add_neighbors(const HandleName &communicator, uint32_t place, Awaited *awaited) const;
  const KnownCall &look_at(const trace::Event &event);
  void act(const MessageCall &call, MessageStep *step);
  void transfer(const MessageCall &call, MessageStep *step);
  /// nullptr: to nobody.
  SentPointer send(const Envelope &envelope, uint32_t communicator, std::optional<uint64_t> bytes,
                   const MarkPointer &content, MessageStep *step, uint32_t pair = 0);
  void send(Request *request, MessageStep *step);
  ReceivePointer post(const Envelope &envelope, uint32_t communicator, const MarkPointer &content,
                      const MessageStep &step, uint32_t pair = 0);
  Request &new_request(const HandleName &name);
  void forget_first();
  /// A request to start.
  void make(const MessageCall &call, uint32_t communicator);
  void ready(const HandleName &name, uint64_t partitions, MessageStep *step);
  /// `place`: among those that the call starts.
  void start(const HandleName &name, size_t place, MessageStep *step);
  void complete(const HandleName &name, const MessageOutcome &outcome, MessageStep *step);
  /// A receive is complete, or its message is there.
  void arrive(const ReceivePointer &receive, const MessageOutcome &outcome, MessageStep *step,
              MessageStep::Arriving::How how = MessageStep::Arriving::How::received);
  void look(const MessageCall &call, MessageStep *step);
  void collective(const MessageCall &call, MessageStep *step);
  [[nodiscard]] Awaited awaited_in(const MessageCall &call, uint32_t communicator, uint32_t place) const;
  /// nullopt: nobody knows which communicator that is.
  std::optional<uint32_t> number_of(const std::optional<HandleName> &name);
  [[nodiscard]] std::optional<uint32_t> in_world(uint32_t communicator, int64_t rank) const;

  const MessageScope &scope_;
  uint32_t rank_;
  trace::Events events_;
  std::vector<Cut> cuts_;  ///< the next one is the last
  uint64_t next_call_ = 0;
  Posts posts_;
  Gatherings *gatherings_;
  MessageCounts &counts_;
  Arrivals *arrivals_;
  Cancellations cancelled_;
  CommunicatorNames names_;
  Topologies topologies_;
  std::unique_ptr<WindowFollower> windows_;  ///< nullptr: nobody wants that
  Sizes sizes_;
  uint64_t names_version_ = 0;
  std::map<int64_t, std::optional<uint32_t>> numbers_;  ///< of communicators, as long as their names stay
  std::map<uint32_t, Known> known_;                     ///< by thread
  using Requests = std::unordered_map<HandleName, Request, NameHash>;
  Requests requests_;
  std::vector<Requests::node_type> spare_requests_;      ///< room of those that are complete
  std::map<HandleName, ReceivePointer> found_;           ///< messages that were probed for
  std::map<uint32_t, uint64_t> meetings_;                ///< how many, by communicator
  std::map<uint32_t, uint32_t> persistent_;              ///< collective operations that were made so, by communicator
  std::map<ChannelKey, uint32_t> partitioned_sends_;     ///< operations that were made, by what they have in common
  std::map<ChannelKey, uint32_t> partitioned_receives_;  ///< the same
  std::deque<StepPointer> steps_;
  std::vector<StepPointer> spare_steps_;  ///< the last one is for the next call
  size_t settled_ = 0;                    ///< of the first one's receives
  bool ended_ = false;
  std::optional<uint64_t> last_end_ns_;  ///< of a call
  bool within_ = false;                  ///< the last one that was read was made by another one, which comes behind it
  uint64_t outside_ns_ = 0;              ///< since the last step
  bool cut_short_ = false;               ///< the rank did not complete
  bool several_threads_ = false;         ///< then calls stand in the order of their ends, and may begin in another
};

}  // namespace cairn::analyze
