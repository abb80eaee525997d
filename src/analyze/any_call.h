// AnyCall: the calls of one rank from any place on, each with what the rank's communicators are called then.
//
// Whoever goes on where it stands pays what Events does, a call; whoever goes elsewhere, what Events::seek does, and
// the calls before that make communicators, which are found in the grammar (names_before.h). Where several threads made
// some, all calls before are gone through. Borrows the trace. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "analyze/communicator_names.h"
#include "analyze/names_before.h"
#include "base/result.h"
#include "trace/read/events.h"

namespace cairn::analyze {

class AnyCall {
 public:
  AnyCall(const trace::Trace &trace, uint32_t rank)
      : trace_(trace), rank_(rank), events_(trace, rank), names_before_(trace, rank), names_(trace, rank) {}
  AnyCall(const AnyCall &) = delete;
  AnyCall &operator=(const AnyCall &) = delete;

  /// The call of that index; nullptr if there are not so many, or `end` tells why they cannot be read. Changes what the
  /// last one pointed to.
  const trace::Event *at(uint64_t index);
  /// Of the call that `at` gave last.
  [[nodiscard]] const CommunicatorNames &names() const { return names_; }
  /// Whether numbers of calls (Event::call) began anew since this was asked last.
  bool begins_anew() { return std::exchange(begins_anew_, false); }
  /// The index of the first call that ends at that moment or later; nothing if there is none, or no times are known.
  std::optional<uint64_t> index_at(uint64_t ns);
  uint64_t count();
  /// Events::end, and Events::end_of_calls.
  [[nodiscard]] const Result<void> &end() const { return events_.end(); }
  [[nodiscard]] Result<void> end_of_calls() const { return events_.end_of_calls(); }

 private:
  void go_to(uint64_t index);

  const trace::Trace &trace_;
  uint32_t rank_;
  trace::Events events_;
  NamesBefore names_before_;
  CommunicatorNames names_;
  uint64_t next_ = 0;
  std::optional<uint64_t> count_;
  bool begins_anew_ = false;
};

}  // namespace cairn::analyze
