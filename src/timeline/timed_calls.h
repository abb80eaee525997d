// TimedCalls: the calls of a sequence with the times that the trace has of each, on the axis of the run. To begin
// anywhere costs a block of times (timing/stream.h), and what CallReader::seek does, not the calls before.
//
// Kept from one question to the next it keeps its indices and the block that it decoded last: some MB. Borrows the
// trace.
#pragma once

#include <cstdint>
#include <optional>

#include "timeline/sequence_calls.h"
#include "trace/model/class_part.h"
#include "trace/read/call_reader.h"
#include "trace/read/call_times.h"
#include "trace/read/trace.h"

namespace cairn::timeline {

class TimedCalls final : public SequenceCalls {
 public:
  /// Fails where it cannot be told where the times of calls are.
  static Result<TimedCalls> of(const trace::Trace &trace, const trace::SequenceView &sequence);

  Result<std::optional<Call>> next() override;
  void seek(uint64_t index) override;
  uint64_t count() override;
  /// Mostly the first of its block of times.
  [[nodiscard]] uint64_t near(uint64_t ns) override;
  /// About the first call that begins at `ns` or later: the first of a block of times, or behind the last that has one.
  [[nodiscard]] uint64_t behind(uint64_t ns) const;
  /// Many calls will be asked for in order: another core decodes the next block meanwhile.
  void read_ahead() { times_.read_ahead(); }

 private:
  TimedCalls(const trace::Trace &trace, const trace::SequenceView &sequence, trace::CallTimes times);
  [[nodiscard]] uint64_t own_of(uint64_t ns) const;

  const trace::ClassPart *part_;
  uint64_t begin_ns_;  ///< of the sequence, by the rank's clock
  trace::Axis::Place axis_;
  trace::CallTimes times_;
  trace::CallReader reader_;
  uint64_t position_ = 0;
};

}  // namespace cairn::timeline
