// The messages of a run as a block: what a page draws between the lines of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "reader/block.h"
#include "reader/reading.h"

namespace cairn::reader {

struct MessagesWanted {
  std::optional<std::vector<uint32_t>> ranks;  ///< both ends are of these, ascending; nothing: all
  uint64_t begin_ns = 0;                       ///< on their way at some time from then
  uint64_t end_ns = UINT64_MAX;                ///< to then
  size_t most = 0;
  uint64_t most_before = UINT64_MAX;  ///< turns::PartAsked
};

/// What reader.h says of reader_messages.
Result<Block> messages_block(const Reading &reading, const MessagesWanted &wanted);

}  // namespace cairn::reader
