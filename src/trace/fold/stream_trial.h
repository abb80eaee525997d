// StreamTrial: what a group's fields would take as streams, found by going through the group's calls one by one.
//
// For a class of one rank whose sequence is short enough to be expanded; nothing outlives the trial but the streams.
// Cost: a hash a field of each row, then a parse of each field's values in order, and of their differences where those
// may take less. Fields that vary together are parsed once. A trial ends where it has become dearer than it may be:
// most groups with a few rows and many calls do so soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/fold/stream_bytes.h"
#include "trace/model/class_part.h"

namespace cairn::trace {

class StreamTrial {
 public:
  /// `members` are the group's rows, ascending; `calls` its calls in order, as places in `members`.
  StreamTrial(const ClassPart &part, uint32_t group, const std::vector<uint32_t> &members,
              const std::vector<uint32_t> &calls)
      : part_(part), group_(group), members_(members), calls_(calls) {}

  /// Those fields as streams, each in the form that takes fewer bytes; nothing if all take `most` bytes or more.
  std::optional<std::vector<Stream>> run(const std::vector<uint32_t> &fields, size_t most);
  /// What they take.
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  struct Known {
    std::vector<grammar::Symbol> symbols;
    GrammarPointer order;
  };
  std::optional<StreamVariant> parsed(std::vector<grammar::Symbol> symbols, std::vector<RowPointer> values,
                                      bool differences, size_t most, size_t *cost);
  std::optional<StreamVariant> differences(const std::vector<grammar::Symbol> &symbols,
                                           const std::vector<RowPointer> &values, size_t most, size_t *cost);

  const ClassPart &part_;
  uint32_t group_;
  const std::vector<uint32_t> &members_;
  const std::vector<uint32_t> &calls_;
  std::vector<Known> known_;
  OrderBytes orders_;
  size_t bytes_ = 0;
};

}  // namespace cairn::trace
