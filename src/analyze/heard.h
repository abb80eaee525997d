// Heard: whom the receives from anybody of one thread heard, in the order in which they were posted. Where a request
// was made the trace says so only at the call that completed it, maybe in another segment of the thread's life: so
// calls are read ahead, as far as the completion of the receive that is asked for.
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

namespace cairn::analyze {

class Heard {
 public:
  /// `sequences`: of one thread of a rank, in order.
  Heard(const trace::Trace &trace, std::vector<trace::SequenceView> sequences);

  struct Receive {
    Envelope heard;            ///< what the trace does not say is not there
    uint32_t class_index = 0;  ///< of the sequence that posted it
  };
  /// The next of those receives that make a request and are from anybody, or under any tag; nullopt: there is none.
  std::optional<Receive> next();

 private:
  struct Posted : Receive {
    bool settled = false;
  };
  using PostedPointer = std::shared_ptr<Posted>;
  bool read();
  void look_at(const MessageCall &call);
  /// The calls that say something, by their numbers; nullptr: one that says nothing.
  const MessageCall *call(grammar::Symbol number);

  const trace::Trace &trace_;
  std::vector<trace::SequenceView> sequences_;
  size_t next_sequence_ = 0;
  std::unique_ptr<trace::CallReader> reader_;
  RowScope scope_;
  std::unordered_map<grammar::Symbol, std::unique_ptr<MessageCall>> known_;
  /// All requests of receives that are under way, so that names are matched first in, first out; nullptr: not wild.
  std::map<HandleName, std::deque<PostedPointer>> under_way_;
  std::deque<PostedPointer> posted_;
};

}  // namespace cairn::analyze
