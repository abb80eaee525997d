// What the coders of a block (block.h) share: its gaps and its durations are two *series*, coded apart, in call order
// or by group; and bytes as they are or as a zstd frame, whichever is shorter.
//
// Plain functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "timing/block.h"

namespace cairn::timing {

using Member = uint64_t CallTime::*;
/// In the order in which they stand in bytes.
constexpr std::array<Member, 2> kSeries = {&CallTime::gap, &CallTime::duration};

/// Whether there is a time for each call and a bound for each group, of no more calls than a block has.
bool well_formed(const BlockCalls &calls, size_t times);

/// The numbers of the calls as they come, or those of group 0 first, then of group 1, …, in call order within a group.
/// Linear in the calls.
enum class Order : uint8_t { as_called, by_group };
std::vector<uint32_t> order_of(const BlockCalls &calls, Order order);

/// Appends `plain`, compressed where that is shorter (zstd, level 3).
void put_packed(ByteView plain, Bytes *out);
/// The `size` bytes that put_packed was given. `in` fails on anything else.
Bytes take_packed(ByteReader &in, size_t size);

}  // namespace cairn::timing
