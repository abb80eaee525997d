// The context coder without SSE2, for tests: what machines without it write and read.
#pragma once

#include "timing/block.h"

namespace cairn::timing {

void encode_context_plain(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
bool decode_context_plain(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);

}  // namespace cairn::timing
