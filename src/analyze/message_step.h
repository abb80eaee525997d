// MessageStep: what one call of a rank does to messages and meetings (rank_messages.h).
//
// Plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/gatherings.h"
#include "analyze/message_queues.h"
#include "analyze/messages.h"

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

}  // namespace cairn::analyze
