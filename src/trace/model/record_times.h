// The times of a SequenceRecord's calls: which calls are a group to what codes them (timing/block.h), and for whoever
// makes or checks a record as a whole, all its times.
//
// Stateless; any thread. Memory in proportion to the calls: the recorder itself goes block by block.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "timing/stream.h"
#include "trace/model/record.h"

namespace cairn::trace {

/// What a packed row's group is told by.
struct RowGroup {
  uint64_t function = 0;
  uint64_t site = 0;  ///< of the sequence
  uint64_t depth = 0;
  auto operator<=>(const RowGroup &) const = default;
};
RowGroup group_of_row(ByteView packed_row);
inline RowGroup group_of_row(const Row &row) { return {row.function, row.site, row.depth}; }

/// The times of all calls of `sequence`, whose `calls` and `rows` are there, as a mode with that bound keeps them.
Bytes coded_times(const SequenceRecord &sequence, std::vector<timing::CallTime> times, const timing::Mode &mode,
                  uint64_t bound);
/// The same, exactly.
Bytes exact_times(const SequenceRecord &sequence, std::vector<timing::CallTime> times);
/// What readers will get of `sequence.times`; nullopt if these cannot be read.
std::optional<std::vector<timing::CallTime>> read_times(const SequenceRecord &sequence);

}  // namespace cairn::trace
