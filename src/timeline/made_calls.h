// MadeCalls: the calls of a sequence on the axis of its class (class_axis.h), where the trace has no time of each.
// Calls that one row stands for share what the row takes; where this rank made none there, that time passes without a
// call. To begin anywhere costs what CallReader::seek and the axis do. Borrows the trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "timeline/class_axis.h"
#include "timeline/sequence_calls.h"
#include "trace/read/call_reader.h"
#include "trace/read/trace.h"

namespace cairn::timeline {

class MadeCalls final : public SequenceCalls {
 public:
  /// `begin`: of the sequence on the axis.
  MadeCalls(const trace::Trace &trace, const trace::SequenceView &sequence, std::shared_ptr<ClassAxis> axis,
            Ticks begin);

  Result<std::optional<Call>> next() override;
  void seek(uint64_t index) override;
  uint64_t count() override { return reader_.count(); }
  [[nodiscard]] uint64_t near(uint64_t ns) override;

 private:
  /// What is read as one (trace/read/row_places.h): a call, or those of one row or of a counted cycle.
  struct Unit {
    uint64_t row = UINT64_MAX;  ///< in the sequence
    uint64_t rows = 0;
    uint64_t first_call = 0;
    uint64_t calls = 1;
    Ticks begin = 0;  ///< in the sequence
    RowShare share;   ///< of all its calls
  };
  /// Of the call that was just read.
  void know_unit(uint32_t class_row);

  const trace::ClassPart &part_;
  std::shared_ptr<ClassAxis> axis_;
  Ticks begin_;
  trace::CallReader reader_;
  uint64_t position_ = 0;
  Unit unit_;
};

}  // namespace cairn::timeline
