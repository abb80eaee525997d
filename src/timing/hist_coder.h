// The timing mode `hist` (Pilgrim, 2.3.2): the 2^K bins that come most often among a block's first M calls have codes
// of K bits; one bit more tells whether a call's time has such a code or stands there with its 64 bits, exact, as all
// times of exact groups do. Then zstd, without which 9 bits a time would be all that a bound of 10 % saves.
//
// It is as good as its first M calls are typical: where a block begins with what does not come again, nearly every time
// takes 65 bits.
//
// Bytes: varints K and M; of gaps and then of durations: how many bins have codes, and these bins in the codes' order
// (varints); put_packed (series.h) of a bit for each call, 1 where its time has a code, the lowest bit of a byte first;
// of the codes, K bits each, the same; of the times that have none, 8 bytes each, the lowest first. The three are apart
// because zstd looks at bytes.
#pragma once

#include "timing/block.h"

namespace cairn::timing {

void encode_hist(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
bool decode_hist(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);

/// K of 1 to 16.
struct HistChoice {
  uint32_t code_bits = 8;  ///< K
  uint64_t samples = 100;  ///< M
};
void encode_hist(const BlockCalls &calls, std::span<CallTime> times, const HistChoice &choice, Bytes *out);

}  // namespace cairn::timing
