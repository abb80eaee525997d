// The queues in which messages meet their receives: a channel for each sender, receiver, communicator and tag, and the
// receives that one rank has posted. The n-th message of a channel is of the n-th receive of it, in the order in which
// they were posted; a wildcard's channel is known when it is complete, so what was posted behind it has to wait for
// that where it may be of the same channel.
//
// Plain values, one thread. Memory in proportion to what has not met yet, and to the channels that had receives without
// a known sender; of channels in which all has met a few thousand stay, since most have a next message soon. A receive
// costs the logarithm of how many are open.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/messages.h"
#include "analyze/wildcards.h"
#include "base/ascending.h"

namespace cairn::analyze {

struct Channel;

/// A message, from the call that sends it on.
struct Sent {
  CallTime from;
  bool timed = false;
  uint64_t number = 0;            ///< in the replay
  std::optional<uint64_t> bytes;  ///< where they are known
  MarkPointer mark;
  MarkPointer content;  ///< Arrivals::content
  // As far as they are known:
  bool completed = false;  ///< at a time that is known
  bool matched = false;
  CallTime completing;
  uint64_t waited_ns = 0;                          ///< of the completing call
  std::shared_ptr<uint64_t> late_until = nullptr;  ///< Delivery
  CallTime posted;
  bool anybody = false;  ///< received it
  bool exposed = false;  ///< Delivery
};
using SentPointer = std::shared_ptr<Sent>;

/// A receive, from the call that posted it on.
struct Receive {
  uint32_t communicator = 0;
  uint32_t window = 0;            ///< as in ChannelKey
  uint32_t pair = 0;              ///< the same
  std::optional<uint32_t> from;   ///< in MPI_COMM_WORLD; nullopt: any, as long as nobody knows
  std::optional<int64_t> tag;     ///< the same
  bool anybody = false;           ///< it was of any sender or tag when it was posted
  uint64_t posted = 0;            ///< among those of the rank
  CallTime posting;               ///< the call
  MarkPointer content = nullptr;  ///< of that, or of the one that took what a probe had found: Arrivals::content
  enum class State : uint8_t { open, received, dropped } state = State::open;
  bool wanted = true;  ///< somebody will take its message; else it is gone when there is one
  bool cancelled =
      false;  ///< MPI_Cancel was called for it, and nobody has seen yet that it got its message all the same
  bool exact = true;
  Channel *channel = nullptr;     ///< once it has a place
  std::optional<uint64_t> place;  ///< among the receives of its channel
  [[nodiscard]] bool settled() const { return state == State::dropped || place.has_value(); }
};
using ReceivePointer = std::shared_ptr<Receive>;

struct ChannelKey {
  uint32_t communicator = 0;
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t tag = 0;
  uint32_t window = 0;  ///< not 0: no message, but access to that window of the communicator (rank_windows.h)
  /// Not 0: messages in partitions, of the two operations that both sides made as that one of this sender, receiver,
  /// communicator and tag, from 1 on (MPI 4.1, 4.2: those match in the order in which they were made, once for all).
  uint32_t pair = 0;
  auto operator<=>(const ChannelKey &) const = default;
};

struct Channel {
  ChannelKey key;
  uint64_t sent = 0;
  uint64_t placed = 0;            ///< receives that have a place
  uint64_t expected = 0;          ///< of these are still to take their message
  uint64_t looks = 0;             ///< calls that are still to find a message that another one takes
  Ascending<SentPointer> flying;  ///< messages that nobody took, by place
  /// Places of messages that nobody will take, with their receives, of those that did not complete.
  std::map<uint64_t, std::optional<Receive>> unwanted;
  Ascending<ReceivePointer> open;  ///< receives without a place, by when they were posted
  uint64_t cancelled = 0;          ///< of these, as Receive::cancelled
};

class Channels {
 public:
  Channel &of(const ChannelKey &key);
  void send(Channel *channel, SentPointer message);
  /// The message of a receive that has a place; nullptr: it was not sent yet.
  static SentPointer message(const Receive &receive);
  /// Nobody asks for it any more.
  void take(const Receive &receive);
  /// The same of a look: the message stays.
  void looked(const Receive &look);
  /// Those with something left.
  [[nodiscard]] std::vector<const Channel *> left() const;
  /// A receive of the channel has a place now. Only who asked is told: by a call for each.
  void placed(const ChannelKey &key) const {
    if (placed_) placed_(key);
  }
  void tell_placed(std::function<void(const ChannelKey &)> placed) { placed_ = std::move(placed); }
  /// Who wants to know of messages whose receive was posted and is not seen to complete, once both are known.
  void tell_unseen(std::function<void(const Receive &, const Sent &)> unseen) { unseen_ = std::move(unseen); }

 private:
  static constexpr size_t kKept = 4096;  ///< channels
  void forget_if_empty(Channel *channel);
  struct Hash {
    size_t operator()(const ChannelKey &key) const;
  };
  std::unordered_map<ChannelKey, Channel, Hash> all_;
  std::function<void(const ChannelKey &)> placed_;
  std::function<void(const Receive &, const Sent &)> unseen_;
};

/// The receives of one rank, in the order of its calls.
class Posts {
 public:
  Posts(Channels *channels, uint32_t rank) : channels_(channels), rank_(rank) {}
  void post(const ReceivePointer &receive);
  /// What a call finds that leaves it where it is (MPI_Probe): the message that a receive would get that were posted
  /// now and complete at once. nullptr: nobody knows, as others that are open may get it.
  ReceivePointer look(const ChannelKey &key, const CallTime &call);
  /// It is complete; what was not known of it is.
  void received(const ReceivePointer &receive, uint32_t from, int64_t tag);
  /// It took no message; or (`some`) nobody knows which.
  void drop(const ReceivePointer &receive, bool some);
  /// From now on it may end without a message.
  static void cancel(Receive *receive);
  /// It will be complete, but nobody sees when.
  void let_go(const ReceivePointer &receive);
  /// Nobody knows whether another one took its message.
  void doubt(const Receive &receive) { unknown_.add(receive); }
  /// Of all that are left: the rank makes no more calls.
  void finish();
  /// Receives that are complete and have no place, since an earlier one may have to come before them.
  [[nodiscard]] uint64_t held_back() const { return held_back_; }
  /// Receives from anybody, or under any tag, that were open then.
  [[nodiscard]] const std::vector<Receive> &left() const { return left_; }
  /// Whether a receive of which nobody knows what it took, or one of those left, may have taken a message of it.
  [[nodiscard]] bool may_have_taken(const ChannelKey &key) const { return unknown_.may_have_taken(key); }
  /// How often a channel was looked at for receives that can have their place.
  [[nodiscard]] uint64_t looks() const { return looks_; }

 private:
  void give_places(Channel *channel);
  /// Of those that waited behind a receive from anybody.
  void give_places(const std::vector<Channel *> &channels);

  Channels *channels_;
  uint32_t rank_;
  uint64_t posted_ = 0;
  uint64_t held_back_ = 0;
  uint64_t looks_ = 0;
  Ascending<ReceivePointer> open_;
  Wildcards wildcards_;  ///< of `open_`
  UnknownTakers unknown_;
  std::vector<Receive> left_;
};

}  // namespace cairn::analyze
