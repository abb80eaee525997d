// libzfp, found when it is needed: nothing of ours links it, least of all what is injected into programs. Its C
// functions are called as those of version 1.0 (libzfp.so.1).
//
// Loaded once a process, at the first call; any thread.
#pragma once

#include <span>

#include "base/bytes.h"

namespace cairn::timing {

/// nullptr, or why there is none.
const char *zfp_missing();

/// Appends `values` so that none is off by more than `tolerance`, which is looked at; false, with nothing changed, if
/// that is not possible, or there is no libzfp.
bool zfp_compress_within(std::span<const double> values, double tolerance, Bytes *out);
/// The same number of values, of bytes that were made with that tolerance. Any bytes give values, or false.
bool zfp_decompress(ByteView bytes, double tolerance, std::span<double> values);

}  // namespace cairn::timing
