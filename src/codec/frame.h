// What decodes zstd frames: libzstd, but on WebAssembly, where there is none, codec/unzstd.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "codec/codec.h"

namespace cairn::codec {

constexpr std::array<uint8_t, kFrameMagic> kMagic = {0x28, 0xb5, 0x2f, 0xfd};  ///< a frame begins with it

/// Fills `out`; false if the bytes are not one frame, or one of as many bytes.
bool decode_frame(ByteView frame, std::span<uint8_t> out);

}  // namespace cairn::codec
