// For tests: blocks of which only their place in the virtual file matters.
#pragma once

#include "arrays/file/block.h"

namespace cairn::arrays {

/// Bytes in one run; the rest follows from the sequence number.
inline Block block_at(uint64_t offset, uint64_t bytes, uint64_t sequence) {
  Region region;
  region.offset = offset;
  region.run = bytes;
  Block block;
  block.regions = {region};
  block.shape = {bytes};
  block.sequence = sequence;
  block.offset = 1000 * sequence;
  block.size = bytes / 2 + 1;
  block.checksum = sequence * 77;
  return block;
}

}  // namespace cairn::arrays
