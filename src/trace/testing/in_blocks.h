// For tests: what the ranks of a recording and its root write together, without MPI.
#pragma once

#include <optional>
#include <vector>

#include "base/bytes.h"
#include "trace/merge/part.h"
#include "trace/model/record.h"

namespace cairn::trace {

struct InBlocks {
  Part part;                        ///< of all ranks
  Bytes blocks;                     ///< of those that have lossless times, then bundles
  std::optional<uint64_t> bundles;  ///< where these begin

  /// What they are together.
  [[nodiscard]] Bytes file(const RunInfo &run) const;
};
/// The recordings merged one by one, each part travelling as bytes, after the times of every rank, but for those that
/// `keeps` says keep theirs, have left it.
InBlocks in_blocks(const std::vector<ProcessRecord> &processes, bool (*keeps)(uint32_t rank) = nullptr);

/// The recordings merged in pairs, and those in pairs, …; after each merge classes leave where there are more than
/// `most` bytes of them.
InBlocks in_bundles(const std::vector<ProcessRecord> &processes, size_t most);

/// A whole file of one without its blocks.
Bytes with_blocks(ByteView file, ByteView blocks);

}  // namespace cairn::trace
