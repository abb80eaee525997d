// Messages: which send each receive of a run is of, over all ranks, and which calls of others a collective call waited
// for. From a trace with times of single calls.
//
// A receive is of the send that MPI promises: among the messages of one sender to one receiver in one communicator with
// one tag, those that were received stand in the order in which the receives were posted, and that is the order of the
// sends. So it is known without looking into messages, of nonblocking receives by the call that completed them, of
// persistent ones by each start, of wildcards by what the status says.
//
// The ranks' calls are gone through side by side, each as far as what it waits for has happened, always the earliest
// by the measured clocks: nothing is told before what it follows from, and memory goes with the messages in flight, and
// with calls between two receives that are completed in another order than they were posted. What could not be matched
// is left out, and counted. Const after construction; borrows the trace. Each replay costs all calls of all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/communicators.h"
#include "analyze/row_access.h"
#include "base/result.h"
#include "trace/read/events.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// A call of a rank.
struct CallTime {
  uint32_t rank = 0;      ///< in MPI_COMM_WORLD
  uint64_t call = 0;      ///< Event::index
  uint64_t begin_ns = 0;  ///< on the axis of the run
  uint64_t end_ns = 0;
  uint32_t class_index = 0;  ///< whose Trace::sites `site` numbers
  uint32_t function = 0;
  uint32_t site = 0;
};

/// What whoever is told of a run wants to be reminded of when something comes of a call.
struct Mark {
  virtual ~Mark() = default;
};
using MarkPointer = std::shared_ptr<const Mark>;

/// What arrived cannot have ended before what it came from began.
struct Edge {
  enum class Kind : uint8_t {
    message,  ///< the call that sent it, or started to, and the one that completed its receive
    probed,   ///< … and the one that found it for another one to receive: MPI_Probe, MPI_Mprobe and their like
    exposed,  ///< MPI_Win_start or MPI_Win_complete, and the MPI_Win_wait that ended the access; no message
  };
  Kind kind = Kind::message;
  CallTime from;  ///< which began to send
  CallTime to;    ///< which ended with it
  /// False where the message may be one that was sent later: some were received of which nobody says whose they were.
  bool exact = true;
  MarkPointer mark;           ///< of `from`
  bool timed = true;          ///< both have a time; else only whose calls they are is known
  uint64_t number = 0;        ///< of the message in this replay, as `sent` told it
  uint32_t communicator = 0;  ///< Messages::name_of
  int64_t tag = 0;
  std::optional<uint64_t> bytes = std::nullopt;  ///< that were sent, where that is known
  CallTime posted{};                             ///< the call that posted the receive
  MarkPointer sent_content = nullptr;            ///< Arrivals::content of `from`
  MarkPointer received_content = nullptr;        ///< of the call that posted the receive, or took the message
  bool anybody = false;                          ///< the receive was of any sender, or of any tag
};

/// A message of which both ends are complete.
struct Delivery {
  CallTime sent;           ///< the call that sent it, or started to
  CallTime completed;      ///< the call that completed the send: the same, or MPI_Wait and its like
  uint64_t waited_ns = 0;  ///< what `ended` answered of `completed`
  CallTime posted;         ///< the call that posted the receive
  bool anybody = false;    ///< as in Edge
  bool exposed = false;    ///< no message: as in Edge, and `posted` is the MPI_Win_post
  /// For the listener: until when it found that `completed` waited, one for all that this call completed.
  uint64_t *late_until = nullptr;
};

/// A collective call, once all that somebody waits for have begun it.
struct Meeting {
  uint64_t number = 0;                ///< in this replay
  uint32_t operation = 0;             ///< MessageCall::operation, of the first that came
  uint32_t communicator = 0;          ///< Messages::name_of
  std::vector<CallTime> begins;       ///< by rank in the communicator (of two groups, the second's behind the
                                      ///< first's); all 0 where the trace has no time
  std::vector<MarkPointer> marks;     ///< of those calls
  std::vector<MarkPointer> contents;  ///< Arrivals::content of those calls
  std::vector<bool> came;             ///< who has begun it
  bool broken = false;                ///< its members do not call the same operation
  /// That its calls wait for each other is what MPI's libraries do, not what MPI demands: of those that make
  /// communicators, windows and files, and of MPI_Win_fence and MPI_Win_free.
  bool customary = false;
};

/// A call that asks for access to a window by a lock, or gives it back.
struct LockCall {
  CallTime call;
  uint32_t communicator = 0;       ///< Messages::name_of
  uint32_t window = 0;             ///< among the windows made over it, from 1 on
  std::optional<uint32_t> target;  ///< in MPI_COMM_WORLD; nullopt: all of the window
  bool exclusive = false;          ///< no other may have the lock meanwhile; else no other may have an exclusive one
  bool gives_back = false;
};

/// What is left when all ranks' calls have been gone through: a message that nobody received, or a receive that was
/// posted, did not complete, and got no message.
struct Unmatched {
  CallTime call;  ///< that sent it or started to, or posted the receive
  bool sends = false;
  uint32_t communicator = 0;     ///< Messages::name_of
  std::optional<uint32_t> peer;  ///< in MPI_COMM_WORLD; nullopt: a receive from anybody
  std::optional<int64_t> tag;    ///< nullopt: a receive of any
  bool exact = true;  ///< false where calls are missing, or another receive or message may be the one that is lacking
};

struct MessageScope;
class Posts;
class Gatherings;
class WindowFollower;
using FollowWindows = std::unique_ptr<WindowFollower> (*)(const MessageScope &scope, uint32_t rank, Posts *posts,
                                                          Gatherings *gatherings);

/// Is told what happened, in an order in which it can have happened: all that arrived at a rank before it sent
/// something is told before that arrives, and arrivals at one rank in the order of its calls.
class Arrivals {
 public:
  virtual ~Arrivals() = default;
  virtual void message(const Edge &edge) = 0;
  /// `to` ended after each of the `from` (places among the begins; empty: all) had begun.
  virtual void left(const Meeting & /*meeting*/, const std::vector<uint32_t> & /*from*/, const CallTime & /*to*/) {}
  /// Nobody leaves it any more.
  virtual void over(const Meeting & /*meeting*/) {}

  // For who follows the ranks' own times. Told of calls that send, receive or meet, of those of MPI_Init and
  // MPI_Finalize, of those in which a run was cut short, and of all others that took 100 us and more or follow
  // as much time in none; a rank's calls are begun and ended in turn, but for those of several threads.
  /// `outside_ns` of the time since the last of them ended the rank was in no call. `reaches_others`: what it answers
  /// comes back with what the call sends, and with the collective calls that it takes part in.
  virtual MarkPointer begun(const CallTime & /*call*/, uint64_t /*outside_ns*/, bool /*reaches_others*/) {
    return nullptr;
  }
  /// All that it waited for was told. Answers how long it waited, for Delivery.
  virtual uint64_t ended(const CallTime & /*call*/) { return 0; }
  virtual void delivered(const Delivery & /*delivery*/) {}
  /// A receive that is not seen to complete is of that message: its request was freed, or the run ended before. `to` is
  /// the call that posted it; no time. Of a receive from anybody only where one message alone can be meant.
  virtual void unseen(const Edge & /*edge*/) {}
  /// Behind `ended` of the call.
  virtual void locked(const LockCall & /*call*/) {}
  /// No call that is told of from now on, and none that was told of and has not ended, began before.
  virtual void all_after(uint64_t /*ns*/) {}
  /// Now and then: so many more calls of all ranks were read.
  virtual void gone_through(uint64_t /*calls*/) {}

  // What exporters want to know besides.
  /// A call sent a message, or started to; `to` is its rank in MPI_COMM_WORLD.
  virtual void sent(const CallTime & /*call*/, uint32_t /*to*/, int64_t /*tag*/, uint64_t /*number*/) {}
  /// All is told of that call of the rank and those before it, but for messages that arrive elsewhere.
  virtual void passed(uint32_t /*rank*/, uint64_t /*call*/) {}
  /// False: calls are told of as in a trace without times, which costs less than half.
  [[nodiscard]] virtual bool wants_times() const { return true; }
  /// Whether `message`, `delivered` and `sent` are to tell of calls without times as well.
  [[nodiscard]] virtual bool wants_untimed() const { return false; }

  // For who looks at what calls say besides.
  /// Every call of a rank, in order, ahead of all else that is told of it. True: equal calls may mean something else
  /// from now on, so `content` is to be asked anew.
  virtual bool called(const trace::Event & /*event*/, const RowScope & /*scope*/) { return false; }
  /// What a call that sends, receives or meets has to say to those on its other side; kept for equal calls.
  virtual MarkPointer content(const trace::Event & /*event*/, const RowScope & /*scope*/) { return nullptr; }
  /// Whether calls that make or end communicators and other objects, and those among neighbours, are meetings too.
  [[nodiscard]] virtual bool wants_all_meetings() const { return false; }
  /// Whether `left` is to tell of customary meetings, too.
  [[nodiscard]] virtual bool wants_customary() const { return false; }
  /// How what calls wait for at windows is followed (rank_windows.h); nullptr: not at all.
  [[nodiscard]] virtual FollowWindows follow_windows() const { return nullptr; }
  /// A call of such a meeting failed on a member: it is not known which calls of the others its next ones belong to.
  virtual void spoiled(uint32_t /*communicator*/) {}
  /// At the end, by rank and call. Not of a part.
  virtual void unmatched(const Unmatched & /*left*/) {}

  // For who wants some of it.
  /// False: messages alone; nobody waits for collective calls, and nothing is told of them.
  [[nodiscard]] virtual bool wants_meetings() const { return true; }
  /// Asked now and then: whether all was told that is wanted, if no call that is told of from now on, and none that was
  /// told of and has not ended, began before `ns`. Then the replay ends. Not asked where ranks have several threads.
  [[nodiscard]] virtual bool has_enough(uint64_t /*ns*/) const { return false; }
};

/// Calls of a rank, from Event::index `from` on and before `to`, that a replay goes past.
struct Cut {
  uint64_t from = 0;
  uint64_t to = 0;
};
/// By rank, ascending.
using Cuts = std::map<uint32_t, std::vector<Cut>>;

/// Which calls a replay goes through.
struct ReplayPart {
  /// Of ranks with one thread, as if these calls had not been made; who cuts sees to it that the others still match
  /// (src/turns).
  Cuts cuts{};
  /// Only these ranks, ascending, and the messages among them; nullptr: all. Not for who wants meetings.
  const std::vector<uint32_t> *ranks = nullptr;
};

/// What a replay found, and what it left out.
struct MessageCounts {
  uint64_t read = 0;        ///< calls that were gone through
  uint64_t messages = 0;    ///< receives with their sends
  uint64_t collective = 0;  ///< ends of collective calls that waited for others
  uint64_t cancelled = 0;   ///< receives of nothing, and sends of nothing
  // What was left out, by why:
  uint64_t nameless = 0;  ///< of any sender or tag, without a status
  uint64_t lost = 0;      ///< the trace lacks calls of the sender
  uint64_t unsent = 0;    ///< nobody sent it: the sender was killed, or lies outside this run
  uint64_t untimed = 0;   ///< without a time, on either side
  uint64_t apart = 0;     ///< collective calls of processes that are not known
  [[nodiscard]] uint64_t left_out() const { return nameless + lost + unsent + untimed + apart; }
};

class Messages {
 public:
  /// Fails where the trace cannot tell its communicators.
  static Result<Messages> of(const trace::Trace &trace, const Sources &sources);
  Messages(Messages &&) noexcept;
  Messages &operator=(Messages &&) noexcept;
  ~Messages();

  /// Fails where times cannot be read.
  Result<MessageCounts> replay(Arrivals *arrivals, const ReplayPart &part = {}) const;
  /// Of the communicator with that number in an Edge: "MPI_COMM_WORLD", "comm(1@4)".
  [[nodiscard]] const std::string &name_of(uint32_t communicator) const;
  /// Its members, those of the group with the smallest rank first, by rank there; nullptr of MPI_COMM_SELF.
  [[nodiscard]] const Communicator *communicator(uint32_t number) const;
  [[nodiscard]] const MessageScope &scope() const;

 private:
  struct Known;
  explicit Messages(std::unique_ptr<Known> known);
  std::unique_ptr<Known> known_;
};

}  // namespace cairn::analyze
