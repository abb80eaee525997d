// Block: the times of some successive calls of one sequence as bytes that stand for themselves: what is needed to
// decode them is in them, and in which call each is.
//
// Which call a time belongs to is known from the trace's structure and costs no bytes here; coders are told by its
// *group*: the calls of one function at one call site and depth, numbered from 0 in the order in which they first occur
// in the block. A group and not the call with all its values: that predicts times as well (docs/benchmarks.md), and
// every reader finds it without completing the call.
//
// A coder is a pair of functions, stateless, for any thread; they allocate what they need and throw std::bad_alloc.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "timing/call_time.h"

namespace cairn::timing {

/// More calls than this no block has, and no coder takes or gives.
constexpr uint64_t kMostBlockCalls = uint64_t{1} << 17;

/// What is known of a block's calls before their times are.
struct BlockCalls {
  std::span<const uint32_t> groups;  ///< of each call
  std::span<const uint64_t> bounds;  ///< of each group: how far its times may be off, in the unit of the mode
  /// Of each group: how many calls its own are nested in; none: all in none. No coder's business.
  std::span<const uint32_t> depths = {};
};

/// Appends the block's bytes, deterministically, and replaces the times by what `Decode` will give.
using Encode = void (*)(const BlockCalls &calls, std::span<CallTime> times, Bytes *out);
/// `times` has room for each call. False on bytes that no encoder wrote; it need not find all of these, but must not
/// take long or much memory over them.
using Decode = bool (*)(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times);

}  // namespace cairn::timing
