// What a reader of a file lets its bytes stand for: few may name much, but not so much that reading them would be a way
// to take all memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::trace {

/// Values, bytes or rows that so many bytes of a section may have led to.
constexpr uint64_t most_after(size_t position) { return 1'000'000 + 1000 * static_cast<uint64_t>(position); }

}  // namespace cairn::trace
