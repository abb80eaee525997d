// The messages of a run as a block: what a page draws between the lines of ranks.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "reader/block.h"
#include "reader/reading.h"

namespace cairn::reader {

/// What reader.h says of reader_messages.
Result<Block> messages_block(const Reading &reading, size_t most);

}  // namespace cairn::reader
