// Gatherings: the collective calls of a run that are under way, and who waits in them for whom.
//
// A rank's n-th collective call of a communicator is of the n-th one of each other member. Borrows the scope. One
// thread. Memory with the calls that somebody has not left, each with its members.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "analyze/message_calls.h"
#include "analyze/message_scope.h"
#include "analyze/messages.h"

namespace cairn::analyze {

/// A collective call under way.
struct Gathering {
  Meeting meeting;
  size_t missing = 0;  ///< have not begun
  size_t inside = 0;   ///< have not ended
  std::vector<size_t> wait_for_all;
  std::map<uint32_t, std::vector<size_t>> wait_for;  ///< who waits, by place of whom
};
using GatheringPointer = std::shared_ptr<Gathering>;

/// A rank's part in a collective call.
struct MeetingPart {
  GatheringPointer gathering;
  uint32_t place = 0;
  Awaited awaited;
  MarkPointer content = nullptr;
};

/// The collective calls of a run that somebody has not left.
class Gatherings {
 public:
  /// `counted`: nobody asks who came, and they have no members.
  explicit Gatherings(const MessageScope &scope, bool counted = false) : scope_(scope), counted_(counted) {}
  /// A rank's `count`-th of a communicator, or of the window or the persistent operation with that number over it.
  struct Key {
    uint32_t communicator = 0;
    uint32_t window = 0;      ///< 0: of the communicator itself
    uint32_t persistent = 0;  ///< not 0: of starts of the collective operation that was made persistent as that one
    uint64_t count = 0;
    auto operator<=>(const Key &) const = default;
  };
  GatheringPointer of(const Key &key, uint32_t operation);
  [[nodiscard]] const Key &key_of(const Gathering &gathering) const { return keys_.at(gathering.meeting.number); }
  void left(const GatheringPointer &gathering, Arrivals *arrivals);
  /// Nobody goes on.
  void finish(Arrivals *arrivals);

 private:
  const MessageScope &scope_;
  bool counted_;
  uint64_t next_ = 0;
  std::map<Key, GatheringPointer> under_way_;
  std::map<uint64_t, Key> keys_;
};

}  // namespace cairn::analyze
