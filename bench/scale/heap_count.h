// Bytes that C++ code holds on the heap, counted by this program's own operator new and delete, in the sizes of the
// blocks that glibc's malloc makes of them. Only what is allocated while counting is on counts, also when it is freed
// later, so that what belongs to the making of inputs is left out.
//
// One thread. Costs some nanoseconds and 16 bytes (not counted) an allocation.
#pragma once

#include <cstdint>

namespace cairn::scale::heap {

void count(bool on);
[[nodiscard]] uint64_t live();
/// The most that was live since `forget_peak`.
[[nodiscard]] uint64_t peak();
void forget_peak();

}  // namespace cairn::scale::heap
