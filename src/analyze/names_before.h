// NamesBefore: what a rank's communicators are called at any place of its life, without its calls before that: those
// that make some are found in the grammar.
//
// Borrows the trace. One thread at a time. Going forward costs the calls that make some on the way, going back all of
// them from the first on; the first question a visit of the grammar of each sequence that has some.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/communicator_names.h"
#include "trace/read/events.h"
#include "trace/read/selected_reader.h"

namespace cairn::analyze {

class NamesBefore {
 public:
  NamesBefore(const trace::Trace &trace, uint32_t rank);
  ~NamesBefore();

  /// Before the next call of those events of the rank, or that which they gave last. nullptr where several threads made
  /// some before: then only going through all calls tells. Valid until the next question.
  const CommunicatorNames *next_call_of(const trace::Events &events);

 private:
  struct Makers;
  void begin_again();

  const trace::Trace &trace_;
  uint32_t rank_;
  std::vector<Makers> makers_;  ///< by (thread, segment)
  CommunicatorNames names_;
};

}  // namespace cairn::analyze
