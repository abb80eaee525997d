// Wildcards: the receives of one rank that may be of several channels (MPI_ANY_SOURCE, MPI_ANY_TAG), and the channels
// that wait behind them: a receive has no place in its channel as long as one posted before it may still be of the same
// channel.
//
// They are kept by what they ask for, and three such questions can be meant for a channel. So a channel waits behind
// the earliest receive of one of them, and is looked at again once that question's earliest is a later one: as often as
// there are questions, however many receives are open.
//
// Plain values, one thread. Channels are only borrowed: one that waits here must be given up before it ends.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace cairn::analyze {

struct Channel;
struct ChannelKey;
struct Receive;

/// What a receive of this rank asks for; nullopt: any.
struct Question {
  uint32_t communicator = 0;
  uint32_t window = 0;  ///< as in ChannelKey
  uint32_t pair = 0;    ///< the same
  std::optional<uint32_t> from;
  std::optional<int64_t> tag;
  auto operator<=>(const Question &) const = default;

  static Question of(const Receive &receive);
  /// All that are met by messages of a channel: the first of its sender and tag alone, the last of anybody's.
  static std::array<Question, 4> met_by(const ChannelKey &key);
  struct Hash {
    size_t operator()(const Question &question) const;
  };
};

class Wildcards {
 public:
  void add(const Receive &receive);
  /// False: it is none of them. `free`: channels that waited behind it are added, and wait no longer.
  bool remove(const Receive &receive, std::vector<Channel *> *free);
  /// Whether one that was posted before so many may be of the channel; then that waits, `posted` being its first.
  bool hold_up(Channel *channel, uint64_t posted);
  /// The channel waits no longer.
  void give_up(Channel *channel);
  [[nodiscard]] bool may_be(const ChannelKey &key) const;
  /// In the order in which they were posted.
  [[nodiscard]] std::vector<uint64_t> all() const;

 private:
  struct Alike {
    std::set<uint64_t> open;               ///< by when they were posted
    std::map<uint64_t, Channel *> behind;  ///< by when the first receive of each was posted
  };
  std::unordered_map<Question, Alike, Question::Hash> open_;
  struct Wait {
    Question behind;
    uint64_t posted = 0;
  };
  std::unordered_map<Channel *, Wait> waiting_;
};

/// Receives that took some message, and nobody knows which.
class UnknownTakers {
 public:
  void add(const Receive &receive);
  /// Whether one that was posted before so many may have taken a message of the channel.
  [[nodiscard]] bool may_have_taken(const ChannelKey &key, uint64_t posted = UINT64_MAX) const;

 private:
  std::unordered_map<Question, uint64_t, Question::Hash> first_;  ///< when the first of each was posted
};

}  // namespace cairn::analyze
