// The timing mode `cfg` (Pilgrim, 2.3.2): each series' bins as a grammar (grammar/grammar.h), where calls that repeat
// take as long again; then zstd.
//
// Bytes, of gaps and then of durations: varint size and put_packed (series.h) of the grammar's bytes;
// BlockBins::put_rest.
#pragma once

#include "timing/block.h"

namespace cairn::timing {

void encode_cfg(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
bool decode_cfg(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);

}  // namespace cairn::timing
