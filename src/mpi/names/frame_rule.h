// FrameRule: how to get from one stack frame to its caller's, at one place in the code.
//
// Worked out from the call frame information that every object carries for exceptions (.eh_frame, through the table in
// .eh_frame_hdr), since optimised code keeps no frame pointers on x86-64. Understood are the rules that compilers use
// at a call: the frame lies at an offset of rsp or rbp, or rbp points at where its address is; rbp is kept or saved at
// an offset. Everything else (code without information, signal frames) has no rule, and the stack ends there. On
// AArch64 frame pointers are the convention, and no information is read.
//
// Why not the unwinder of libgcc or libunwind: an injected library must not crash on a stack that its program has bent,
// and those follow saved registers without asking where they point; neither is as fast as a rule that is kept.
//
// Any thread; takes the dynamic linker's lock for some microseconds; allocates nothing. Callers keep the rules.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::recorder {

struct FrameRule {
  enum Base : uint8_t {
    none,   ///< the stack ends here
    rsp,    ///< frame = rsp + offset
    rbp,    ///< frame = rbp + offset
    at_rbp  ///< frame = word at rbp + offset
  };
  enum Saved : uint8_t { kept, at_frame, at_old_rbp };
  Base base = none;
  Saved saved = kept;  ///< where the caller's rbp is: rbp itself, or the word at frame (or rbp) + saved_offset
  int32_t offset =
      0;  ///< "frame" is the stack pointer that the caller has after its call; below it lies the return address
  int32_t saved_offset = 0;

  /// The rule at an instruction; `none` if there is none.
  static FrameRule at(uintptr_t instruction);
  /// As `at`, from the table of one object. `header` is its .eh_frame_hdr.
  static FrameRule from_table(const uint8_t *header, uintptr_t instruction);
};

}  // namespace cairn::recorder
