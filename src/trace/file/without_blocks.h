// A .cairn file without the bytes of its blocks, wherever it lies: what has to be read of it before it can be asked.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/file/block_source.h"

namespace cairn::trace {

/// All of a file but `absent` bytes after its header: those of its blocks.
struct WithoutBlocks {
  Bytes bytes;
  uint64_t absent = 0;
};
/// Of a file of `size` bytes. Checks nothing but that it can be read; `read_file` does.
Result<WithoutBlocks> read_without_blocks(const ReadBytes &read, uint64_t size);

}  // namespace cairn::trace
