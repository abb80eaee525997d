#include "timing/context_coder_plain.h"

// The same sources once more, under other names.
#define CAIRN_PLAIN_MIXED_BITS
#define MixedBits PlainMixedBits
#define encode_context encode_context_plain
#define decode_context decode_context_plain
#include "timing/context_coder.cc"  // NOLINT(bugprone-suspicious-include)
#include "timing/mixed_bits.cc"     // NOLINT(bugprone-suspicious-include)
