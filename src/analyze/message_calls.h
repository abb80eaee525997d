// MessageCall: what one call does to messages: which it sends, receives and completes, and what it takes part in with
// other processes. By the table of MPI and the values of the row alone: numbers are as the program gave them, ranks
// those of the call's communicator.
//
// Plain values; `message_call` costs a look at the row's fields.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/row_access.h"
#include "trace/model/record.h"

namespace cairn::analyze {

struct Mark;

/// Whom a message goes to or comes from, and under which tag; nullopt: any.
struct Envelope {
  std::optional<int64_t> rank;
  std::optional<int64_t> tag;
};

/// What a call says of a message that it received or found.
struct MessageOutcome {
  bool told = false;  ///< there is a status; else the program did not want one, or the call failed
  /// It did not want one, and what came is what was asked for: once a request was cancelled the trace says what is not.
  bool as_asked = false;
  /// Where it says something else than what was asked for.
  std::optional<int64_t> rank;
  std::optional<int64_t> tag;
  std::optional<int64_t> bytes;  ///< than the room that it had
  bool cancelled = false;
  /// Of a request that MPI_Cancel was called for: it was cancelled, or nobody says that it was not.
  [[nodiscard]] bool may_be_cancelled() const { return cancelled || !(told || as_asked); }
};

/// Which processes' part in a collective call a process waits for.
struct Awaited {
  bool all = false;
  std::vector<uint32_t> ranks;  ///< else these, in the communicator
  [[nodiscard]] bool nobody() const { return !all && ranks.empty(); }
};

struct MessageCall {
  enum class Does : uint8_t {
    transfer,  ///< sends and receives, or makes requests that will
    start,     ///< of `requests`
    ready,     ///< `partitions` of the message of `requests`
    complete,  ///< `requests`, with `outcomes`
    cancel,    ///< of `requests`
    release,   ///< of `requests`
    seek,      ///< MPI_Probe, MPI_Iprobe: a message that `receive` is of, and that stays where it is
    collective,
  };
  Does does = Does::transfer;
  bool returned = true;
  bool failed = false;  ///< only of meeting_call: nobody knows whether it took part
  std::optional<HandleName> communicator;
  std::optional<Envelope> send;
  std::optional<Envelope> receive;
  std::optional<uint64_t> sent_bytes = std::nullopt;  ///< of `send`, by who follows the sizes of datatypes
  MessageOutcome outcome;             ///< of `receive` or of `taken`, where it is complete at the end of the call
  std::optional<HandleName> request;  ///< that it makes: then it is complete later
  bool persistent = false;            ///< the request is to be started
  std::optional<uint64_t> partitions = std::nullopt;  ///< in which each of its messages comes (MPI_Psend_init)
  std::optional<HandleName> found;                    ///< the message that a probe took out of the queue
  std::optional<HandleName> taken;                    ///< the message that was found so before, and is received now
  std::vector<HandleName> requests;
  std::vector<MessageOutcome> outcomes;  ///< as many
  uint32_t operation = 0;                ///< of collective calls: the same on all members
  std::optional<int64_t> root;
  bool is_root = false;                           ///< MPI_ROOT, of an intercommunicator: it is, for the other group
  Awaited awaited;                                ///< but for those of whom only the root may say whom it awaits
  Awaited awaited_at_root;                        ///< where this process is the root
  bool awaits_lower = false;                      ///< besides, all of lower ranks
  bool awaits_neighbors = false;                  ///< those who send to it in the communicator's topology
  bool customary = false;                         ///< Meeting::customary
  std::shared_ptr<const Mark> content = nullptr;  ///< Arrivals::content (messages.h), by who asks it
};

/// What the statuses of a call say; nothing if there are none. `count`: how many there are where all of them say what
/// the call implies.
std::vector<MessageOutcome> outcomes_of(const RowAccess &row, size_t count);
/// Whether it completes requests: MPI_Wait, MPI_Test and their like.
bool completes_requests(const spec::Function &function);
/// The first parameter of that kind; nullptr: there is none.
const spec::Parameter *parameter_of(const spec::Function &function, spec::Kind kind);
/// Whether calls of a function may do such things.
bool is_message_call(const spec::Function &function);
/// nullptr: the call does nothing to messages; it failed, or sends to nobody.
std::unique_ptr<MessageCall> message_call(const trace::Row &row, const RowScope &scope);
/// Whether a function is a collective operation among neighbours; then meeting_call tells of it.
bool is_among_neighbors(uint32_t function);
/// Whether all members of a communicator wait for each other in a function though MPI does not say so: it makes a
/// communicator, a window or a file over that, or ends the connection; then meeting_call tells of it.
bool meets_by_custom(uint32_t function);
/// The part in a meeting, in which nobody else is said to wait for anybody, of a call that all members of a
/// communicator make and that is no message call: it makes or ends something, or is of neighbours; or any that failed.
/// nullptr: it is no such call.
std::unique_ptr<MessageCall> meeting_call(const trace::Row &row, const RowScope &scope);

}  // namespace cairn::analyze
