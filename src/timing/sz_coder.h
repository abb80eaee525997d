// The timing modes `sz` and `sz_clustered`: predict, quantise, code what is left, as SZ does (Di and Cappello, "Fast
// error-bounded lossy HPC data compression with SZ", IPDPS 2016; Tao et al., "Significantly improving lossy compression
// for scientific data sets based on multidimensional prediction and error-controlled quantization", IPDPS 2017).
//
// A relative bound becomes an absolute one on the logarithm (Liang et al., "An efficient transformation scheme for
// lossy data compression with point-wise relative error bounds", CLUSTER 2018). Bins are that logarithm in steps of
// twice the bound, so what is coded is the difference of a time's bin from the one predicted: that of the series' last
// time. In `sz_clustered` the calls of a group come one after the other.
//
// Where SZ codes differences with Huffman's codes and then zstd, these go through an arithmetic coder whose
// probabilities adapt (bit_coder.h): no table takes bytes, and a difference may take less than a bit. There are no
// unpredictable values that stand there as they are: a difference is its length in bits and then its bits, however
// many.
//
// Bytes, of gaps and then of durations: varint size and so many bytes of BitEncoder. A difference is zigzag-mapped;
// five bits tell how many bits that has, each with a probability of its own after those before it; then come the bits
// below the leading one, the first kModelled likewise, the others plain; and what tells exact times of a bin apart,
// plain.
#pragma once

#include "timing/block.h"

namespace cairn::timing {

void encode_sz(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
bool decode_sz(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);
void encode_sz_clustered(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
bool decode_sz_clustered(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);

}  // namespace cairn::timing
