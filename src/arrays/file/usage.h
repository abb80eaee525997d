// What the bytes of a compressed file are used for, and which of them nobody needs: the numbers behind `cairn arrays
// info` and the choice of what a compaction keeps.
#pragma once

#include "arrays/file/index.h"
#include "arrays/file/stored_file.h"

namespace cairn::arrays {

/// Whether newer blocks hold all bytes of a block, so that no reader ever sees one of its own. Says no for what would
/// take more than a million steps to find out.
bool covered(const Index &index, size_t block);
/// Which blocks a reader may need: what is not covered, and all that it is coded against.
std::vector<bool> needed(const Index &index);

struct Usage {
  uint64_t header = 0;          ///< and the scalars behind it
  uint64_t room = 0;            ///< kept free for a longer header
  uint64_t index = 0;           ///< and its segments
  uint64_t segments = 0;        ///< how many, and lists of them
  uint64_t blocks = 0;          ///< bytes of all blocks of the index
  uint64_t covered_blocks = 0;  ///< how many of these nobody needs
  uint64_t covered = 0;         ///< their bytes
  uint64_t replaced = 0;        ///< of earlier blocks over the same regions
  uint64_t holes = 0;           ///< all the rest: earlier indexes, alignment, room in extents and slots

  [[nodiscard]] uint64_t wasted() const { return covered + replaced + holes; }
};
Usage usage_of(const StoredFile &file);

}  // namespace cairn::arrays
