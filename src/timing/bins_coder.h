// The timing mode `bins`: each series' bins as bytes, or as words of two or four bytes where there are more bins, then
// zstd. The least that a bound buys: what other modes are held against.
//
// Bytes, of gaps and then of durations: put_packed (series.h) of the bins, each in as few of 1, 2, 4 bytes, the lowest
// first, as the greatest bin of the block's bounds takes; BlockBins::put_rest.
#pragma once

#include "timing/block.h"

namespace cairn::timing {

void encode_bins(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
bool decode_bins(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);

}  // namespace cairn::timing
