// Bytes for decoders that cannot be told where their input ends (fpzip, zfp): a checksum in front of what they wrote,
// and on the way back as many zeros behind it as they could ever read for so many values. Damage is found by the
// checksum; what forges that as well reads zeros.
#pragma once

#include <cstdlib>
#include <memory>

#include "base/bytes.h"

namespace cairn::codec {

/// Appends the checksum and `coded`.
void write_guarded(ByteView coded, Bytes *out);

struct Free {
  void operator()(uint8_t *bytes) const { std::free(bytes); }
};
/// What write_guarded was given, followed by zeros up to at least `most` bytes. nullptr if the checksum differs.
/// Cost: `most` bytes of address space, of which only those that are read become memory.
std::unique_ptr<uint8_t, Free> read_guarded(ByteView encoded, size_t most);

}  // namespace cairn::codec
