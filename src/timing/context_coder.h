// The coder of the modes `context` and `lossless`: bins (binning.h), each predicted from several contexts at once
// (mixed_bits.h). A call's *place* is its group and how many calls of that group came right before it, up to 15: so
// the sends to six neighbours in a loop of one line are six places. The contexts of a gap or a duration are: its place;
// that and the place before, and the two before; that and the last bin of this place, and the last two; that and the
// bin coded just before (of a duration its gap, of a gap the last duration), and the one before that; and nothing at
// all.
//
// Why these: docs/benchmarks.md, "Times". What helps most beside the place is the bin coded just before; the grammar's
// position alone (the places before) adds little. Bits below an exact bin are coded by its first three, learnt, and the
// rest as they are: they are noise.
//
// The bound of a group is relative, in millionths; 0: exact. Cost: some 260 ns a call to code with 10 % and 280
// exactly, 290 and 310 to decode, 370 and 400 with 1 % (docs/benchmarks.md, "Times"); memory 0.7 MB while a block is
// coded.
#pragma once

#include "timing/block.h"

namespace cairn::timing {

void encode_context(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
bool decode_context(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);

}  // namespace cairn::timing
