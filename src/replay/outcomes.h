// Outcomes: whom the receives from anybody of one thread heard, in the order in which they were posted. Where a request
// was made the trace says so only at the call that completed it: so a second reader runs ahead of the replay, as far as
// the completion of the receive that is asked for.
//
// Borrows the trace. One thread. Memory for the receives that it has seen posted and not been asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyze/message_calls.h"
#include "trace/read/call_reader.h"

namespace cairn::replay {

class Outcomes {
 public:
  /// `sequences`: of one thread of a rank, in order.
  Outcomes(const trace::Trace &trace, std::vector<trace::SequenceView> sequences);

  /// Of the next of those receives that make a request and are from anybody, or under any tag. What the trace does not
  /// say is not there.
  analyze::Envelope next();

 private:
  struct Posted {
    analyze::Envelope heard;
    bool settled = false;
  };
  using PostedPointer = std::shared_ptr<Posted>;
  bool read();
  void look_at(const analyze::MessageCall &call);
  /// The calls that say something, by their numbers; nullptr: one that says nothing.
  const analyze::MessageCall *call(grammar::Symbol number);

  const trace::Trace &trace_;
  std::vector<trace::SequenceView> sequences_;
  size_t next_sequence_ = 0;
  std::unique_ptr<trace::CallReader> reader_;
  analyze::RowScope scope_;
  std::unordered_map<grammar::Symbol, std::unique_ptr<analyze::MessageCall>> known_;
  /// All requests of receives that are under way, so that names are matched first in, first out; nullptr: not wild.
  std::map<analyze::HandleName, std::deque<PostedPointer>> under_way_;
  std::deque<PostedPointer> posted_;
};

}  // namespace cairn::replay
