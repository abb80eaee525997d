// The timing modes `zfp` and `zfp_clustered`: times as doubles through zfp with a fixed accuracy (Lindstrom,
// "Fixed-rate compressed floating-point arrays", IEEE TVCG 20, 2014). Bounds are absolute, in nanoseconds. In
// `zfp_clustered` the calls of a group come one after the other.
//
// libzfp is loaded when it is needed (zfp_library.h): a program that is recorded never loads it for us, since these
// modes are coded once the run has ended (Mode::after). Without it what is written is exact, and what another wrote is
// refused.
//
// Why every duration and every gap is within its bound, whatever it is. Times of 2^52 ns and more stand there as they
// are, and zfp sees the time before in their place. All others are doubles without loss, and what zfp
// wrote is read again: where one of them is not within the tolerance, all are exact. The tolerance is the bound, a
// whole number: a decoded double lies between time - bound and time + bound, and so does the whole number next to it;
// and 0 instead of a negative one is nearer. With a bound of 0 the tolerance is a quarter, and the whole number next to
// a decoded double is the time.
//
// Bytes: for each different bound, in the order in which they come, what `gap` of its calls is and then `duration`: 0
// and put_packed (series.h) of 8 bytes each, exact; or 1, varint number of great times, each as varints (calls since
// the one after the last, time), varint size, and so many bytes of zfp.
#pragma once

#include "timing/block.h"

namespace cairn::timing {

void encode_zfp(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
bool decode_zfp(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);
void encode_zfp_clustered(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
bool decode_zfp_clustered(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);

}  // namespace cairn::timing
