// unzstd: a decoder of zstd frames (RFC 8878) without libzstd, which WebAssembly has not. Half as fast, a tenth of the
// code.
//
// One frame, without a dictionary. Its checksum is passed over, since what we keep in frames has checksums of its own.
// Takes any bytes. Memory: some tables and a block's literals, 160 KiB at most. No state; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace cairn::codec {

/// Fills `out`; false if the bytes are not one frame, or one of as many bytes.
bool unzstd(ByteView frame, std::span<uint8_t> out);

}  // namespace cairn::codec
