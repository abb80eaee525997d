#include "gpu/testing/context.h"

#include <cstdint>

#if !defined(__x86_64__)
#include <boost/context/detail/fcontext.hpp>
#endif

namespace cairn::emulator {

#if defined(__x86_64__)

extern "C" void cairn_switch_context(Context *from, Context to);
// NOLINTNEXTLINE(hicpp-no-assembler)
asm(R"(
  .text
  .type cairn_switch_context, @function
cairn_switch_context:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size cairn_switch_context, . - cairn_switch_context
)");

Context make_context(void *top, size_t /*size*/, void (*entry)()) {
  // As if `entry` had been called: its return address, 0, lies 8 bytes below a multiple of 16.
  auto *at = reinterpret_cast<uint64_t *>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
  *--at = 0;
  *--at = reinterpret_cast<uint64_t>(entry);
  for (int saved = 0; saved < 6; ++saved) *--at = 0;
  return at;
}

void switch_context(Context *from, Context to) { cairn_switch_context(from, to); }

#else

namespace ctx = boost::context::detail;

namespace {

void arrive(ctx::transfer_t from) { *static_cast<Context *>(from.data) = from.fctx; }

/// The entry is handed over in the first switch, which make_context does.
void begin(ctx::transfer_t maker) {
  auto *const entry = reinterpret_cast<void (*)()>(maker.data);
  arrive(ctx::jump_fcontext(maker.fctx, nullptr));
  entry();
}

}  // namespace

Context make_context(void *top, size_t size, void (*entry)()) {
  const ctx::fcontext_t made = ctx::make_fcontext(top, size, begin);
  return ctx::jump_fcontext(made, reinterpret_cast<void *>(entry)).fctx;
}

void switch_context(Context *from, Context to) { arrive(ctx::jump_fcontext(to, from)); }

#endif

}  // namespace cairn::emulator
