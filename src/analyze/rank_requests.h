// RankRequests: what the calls of one rank do to messages and meetings, its requests followed from the calls that made
// them to those that completed them.
//
// Fed with the rank's calls in their order. Borrows what is shared. One thread. Memory with the requests that are open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyze/cancellations.h"
#include "analyze/gatherings.h"
#include "analyze/message_calls.h"
#include "analyze/message_queues.h"
#include "analyze/message_scope.h"
#include "analyze/message_step.h"
#include "analyze/messages.h"
#include "analyze/partitions.h"
#include "analyze/rank_communicators.h"
#include "analyze/row_access.h"

namespace cairn::analyze {

class RankRequests {
 public:
  /// `communicators` has seen each call before `act` is told of it.
  RankRequests(const MessageScope &scope, uint32_t rank, RankCommunicators *communicators, Posts *posts,
               Gatherings *gatherings, MessageCounts *counts, Arrivals *arrivals);
  /// The rank's next call; what it does goes to `step`, whose `call` says which it is.
  void act(const MessageCall &call, MessageStep *step);

 private:
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
  void transfer(const MessageCall &call, MessageStep *step);
  /// nullptr: to nobody.
  SentPointer send(const Envelope &envelope, uint32_t communicator, std::optional<uint64_t> bytes,
                   const MarkPointer &content, MessageStep *step, uint32_t pair = 0);
  void send(Request *request, MessageStep *step);
  ReceivePointer post(const Envelope &envelope, uint32_t communicator, const MarkPointer &content,
                      const MessageStep &step, uint32_t pair = 0);
  Request &new_request(const HandleName &name);
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

  const MessageScope &scope_;
  uint32_t rank_;
  RankCommunicators &communicators_;
  Posts &posts_;
  Gatherings *gatherings_;
  MessageCounts &counts_;
  Arrivals *arrivals_;
  Cancellations cancelled_;
  bool several_threads_;  ///< then another one may take what a probe sees
  using Requests = std::unordered_map<HandleName, Request, NameHash>;
  Requests requests_;
  std::vector<Requests::node_type> spare_requests_;      ///< room of those that are complete
  std::map<HandleName, ReceivePointer> found_;           ///< messages that were probed for
  std::map<uint32_t, uint64_t> meetings_;                ///< how many, by communicator
  std::map<uint32_t, uint32_t> persistent_;              ///< collective operations that were made so, by communicator
  std::map<ChannelKey, uint32_t> partitioned_sends_;     ///< operations that were made, by what they have in common
  std::map<ChannelKey, uint32_t> partitioned_receives_;  ///< the same
};

}  // namespace cairn::analyze
