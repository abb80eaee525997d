// Chunks: times as Cairn wrote them before there were blocks (stream.h), in lossless mode alone: (gap, duration) pairs
// of varints, in chunks under zstd. Read for ever, written no more.
//
// Trusts nothing; allocates in proportion to what the bytes hold. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "timing/call_time.h"

namespace cairn::timing {

/// How many calls a stream of chunks has, without decoding them. False, with the byte where it went wrong.
bool count_chunks(ByteView stream, uint64_t *calls, size_t *bad_byte);
/// All of them. False if they are malformed.
bool read_chunks(ByteView stream, std::vector<CallTime> *times);

}  // namespace cairn::timing
