// Inside the emulator: several stacks in one thread, and switching between them.
//
// On x86-64 a dozen instructions of our own that keep what a call has to keep, and end in a return, so that the
// processor foresees where each lane goes on; elsewhere Boost.Context. Floating-point modes are shared.
#pragma once

#include <cstddef>

namespace cairn::emulator {

/// Where a stack goes on that is not running.
using Context = void *;

/// A stack that ends at `top`, `size` bytes long, on which `entry`, which never returns, is called at the first switch.
Context make_context(void *top, size_t size, void (*entry)());
/// Goes on at `to`; comes back when something switches to `*from`, which is set before.
void switch_context(Context *from, Context to);

}  // namespace cairn::emulator
