// MessageEnds: what each call of one rank does to messages and collective operations, as formats of traces tell it:
// sends, receives where they are posted and where they are complete, and requests, which have a number each.
//
// Fed with the calls of a rank in their order, all of them. Ranks are those of the communicator, and of MPI_COMM_WORLD
// besides. Borrows the scope. One thread. Memory for the distinct calls of a rank, as Events has it, and for its
// requests that are open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "analyze/cancellations.h"
#include "analyze/partitions.h"
#include "export/scope.h"
#include "simgrid/neighbor_parts.h"
#include "simgrid/rank_calls.h"
#include "trace/read/events.h"

namespace cairn::exporting {

struct MessageEnd {
  enum class Kind : uint8_t {
    send,              ///< by a blocking call
    isend,             ///< begins
    isend_done,        ///< is complete
    receive,           ///< by a blocking call, at its end
    receive_posted,    ///< begins
    receive_done,      ///< is complete
    cancelled,         ///< the request's message never was
    collective,        ///< a part in a collective operation, from the begin of the call to its end
    collective_begun,  ///< a part in one that goes on in a request
    collective_done,   ///< … which is complete
  };
  Kind kind = Kind::send;
  uint32_t communicator = 0;  ///< Groups' number
  uint32_t peer = 0;          ///< rank in the communicator: of an intercommunicator, in the other group
  uint32_t peer_in_world = 0;
  int64_t tag = 0;
  uint32_t pair = 0;       ///< analyze::ChannelKey: such messages meet no others of their tag
  bool is_message = true;  ///< of a send: false: it is about to be cancelled, and nobody receives it
  uint64_t bytes = 0;      ///< of the message
  bool known = true;       ///< the bytes are; else of a receive the room for it, of others 0
  bool is_room = false;    ///< of a receive whose status was ignored: the bytes are the room that it had
  uint64_t request = 0;    ///< from 1; each start of a persistent one has its own
  // Of collective operations:
  uint32_t function = 0;
  std::optional<uint32_t> root;  ///< rank in the communicator
  /// Between two groups, by which of them has the root: this process is it (MPI_ROOT), or some other of its group
  /// (MPI_PROC_NULL); else `root` says it, of the other group.
  enum class Between : uint8_t { nothing, this_process, this_group } between = Between::nothing;
  uint64_t received = 0;  ///< as `bytes`, which are those sent
};

/// What was left out of all calls, and why.
struct LeftOut {
  uint64_t strangers = 0;  ///< messages in communicators whose members the trace does not know, or to processes outside
  uint64_t meetings = 0;   ///< parts in collective calls of such communicators
  uint64_t nameless = 0;   ///< receives of which the trace does not say whom they heard
  uint64_t unsized = 0;    ///< messages whose size is not known: they have 0 bytes
  uint64_t room = 0;       ///< receives whose status the program ignored: they have as many bytes as they had room for
  uint64_t unfinished = 0;  ///< calls that never returned
};

class MessageEnds {
 public:
  MessageEnds(const Scope &scope, uint32_t rank, LeftOut *left_out);
  /// Of the rank's next call. Valid until the next call of this.
  const std::vector<MessageEnd> &of(const trace::Event &event);

 private:
  struct Request {
    bool persistent = false;
    analyze::Partitions partitions{};
    std::optional<MessageEnd> send;  ///< what each start begins
    std::optional<MessageEnd> receive;
    std::optional<analyze::Envelope> asked;  ///< by `receive`
    std::optional<simgrid::View> view;
    std::optional<MessageEnd> part;  ///< in a collective operation
    bool active = false;
    bool cancelled = false;
  };

  void act(const simgrid::SimulatedCall &call, uint32_t function);
  void transfer(const simgrid::SimulatedCall &call);
  void collective(const analyze::Collective &collective, uint32_t function);
  void number_pair(const analyze::MessageCall &call, Request *request);
  /// `place`: among those that the call starts.
  void start(Request *request, size_t place = 0);
  void start_send(Request *request);
  void complete(const analyze::HandleName &name, const analyze::MessageOutcome &outcome);
  void arrive(MessageEnd receive, const Request &request, const analyze::MessageOutcome &outcome,
              MessageEnd::Kind kind);
  std::optional<MessageEnd> sending(const simgrid::SimulatedCall &call, const simgrid::View &view);

  LeftOut &left_out_;
  analyze::Cancellations cancelled_;
  uint64_t call_ = 0;  ///< that is looked at
  simgrid::RankCalls calls_;
  simgrid::NeighborParts neighbors_;
  std::map<analyze::HandleName, Request> requests_;
  std::map<analyze::HandleName, Request> found_;  ///< messages that were probed for
  /// Operations in partitions that were made, by communicator, the other side in MPI_COMM_WORLD, and tag.
  using Envelopes = std::map<std::tuple<uint32_t, uint32_t, int64_t>, uint32_t>;
  Envelopes partitioned_sends_;
  Envelopes partitioned_receives_;
  uint64_t last_request_ = 0;
  std::vector<MessageEnd> ends_;
};

}  // namespace cairn::exporting
