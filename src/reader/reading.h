// Reading: an open trace, and what is asked of it as a whole.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/decode.h"
#include "analyze/selected_calls.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "reader/block.h"
#include "reader/groups.h"
#include "trace/read/trace.h"

namespace cairn::reader {

struct Reading {
  trace::Trace trace;
  analyze::Sources sources;
  analyze::Decoder decoder;
  analyze::SelectedCalls moving;  ///< what must be known to tell how much calls move
  Groups groups;
  std::optional<std::vector<GroupDurations>> durations;  ///< once they were asked for

  explicit Reading(trace::Trace opened);
  Reading(const Reading &) = delete;
  Reading &operator=(const Reading &) = delete;
};

// What reader.h says of the functions of these names.
nlohmann::ordered_json run_json(const Reading &reading, bool everything);
Result<Block> classes_block(const Reading &reading);
Result<Block> groups_block(const Reading &reading);
Result<Block> durations_block(Reading *reading);
/// `groups`: by number; empty: all.
Result<Block> matrix_block(const Reading &reading, const std::vector<bool> &groups, bool by_communicator);
Result<Block> summary_block(const Reading &reading, uint32_t by);
Result<Block> sizes_block(const Reading &reading, uint32_t by, bool exact);
Result<Block> loops_block(const Reading &reading);
/// One text.
Block text_block(const nlohmann::ordered_json &json);

}  // namespace cairn::reader
