// RankTimes: the times of the calls of some ranks' sequences, each rank's as its timing mode wrote them. Times have no
// pattern along the ranks, and no rank but their own needs them: merging puts them beside each other.
//
// Plain value. Cost: proportional to the number of ranks; the streams are moved, never looked into.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace cairn::timing {

struct TimesOfRank {
  uint32_t rank = 0;
  Bytes stream;  ///< never empty
};

/// Ascending by rank.
using RankTimes = std::vector<TimesOfRank>;

/// Adds those of other ranks.
void merge(RankTimes *left, RankTimes right);
/// nullptr if the rank has none.
const Bytes *stream_of(const RankTimes &times, uint32_t rank);
/// docs/format.md, "Times".
void write(const RankTimes &times, ByteWriter &out);
/// Checks what it reads but for the streams themselves; `in` fails on malformed bytes.
RankTimes parse_rank_times(ByteReader &in);

}  // namespace cairn::timing
