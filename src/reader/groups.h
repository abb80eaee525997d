// Groups: calls of one function at one call site, called from the same places, at one depth, over all classes of a
// trace, numbered in the order of classes and their rows.
//
// Made once; plain values afterwards. Cost: the rows of all classes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/filter.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "timing/percentiles.h"
#include "trace/read/trace.h"

namespace cairn::reader {

struct Group {
  uint32_t function = 0;
  analyze::Position position;
  std::vector<analyze::Position> callers;  ///< the innermost first, where call stacks were kept
  uint32_t depth = 0;
  uint64_t calls = 0;  ///< of all ranks
};

/// How long calls of a group took.
struct GroupDurations {
  uint64_t calls = 0;  ///< whose times are known
  uint64_t total_ns = 0;
  uint64_t least_ns = 0;
  uint64_t greatest_ns = 0;
  std::optional<timing::Percentiles> percentiles;
};

class Groups {
 public:
  Groups(const trace::Trace &trace, const analyze::Sources &sources);

  [[nodiscard]] const std::vector<Group> &all() const { return groups_; }
  /// The group of a row of a class.
  [[nodiscard]] uint32_t of(uint32_t class_index, uint32_t row) const { return by_class_[class_index][row]; }

 private:
  std::vector<Group> groups_;
  std::vector<std::vector<uint32_t>> by_class_;
};

/// Of each group; empty where the trace keeps no times. Where it has the time of each call, all calls are gone through.
Result<std::vector<GroupDurations>> durations_of(const trace::Trace &trace, const Groups &groups);

}  // namespace cairn::reader
