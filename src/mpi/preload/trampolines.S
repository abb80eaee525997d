// The exported MPI_ functions: each jumps through its slot and leaves everything, the return address above all, as the
// program passed it. A slot first leads to a stub that calls cairn_resolve(index, return address), which fills all
// slots and returns where to go; until then arguments wait on the stack.
//
// CAIRN_MPI_FUNCTIONS_INC names the generated list, lines of CAIRN_MPI_FUNCTION(name). It is read for the
// exported functions, the slots, and what the slots first lead to. Indices follow its order.
// The slots need one relative relocation each and no symbol look-ups at load time.
//
// The same file lists CAIRN_FORTRAN_ENTRY(name, function, status): the entries of Fortran bindings. Such a trampoline notes where the
// program called which function (cairn_fortran_entry, preload.h) and jumps on to the entry itself. Their slots are empty
// until a name is first called, so that a program without Fortran pays for none: cairn_resolve finds each by itself.
//
// And CAIRN_PROFILING_ENTRY(MPI_name, function, status): PMPI_name, which bindings call. If it answers the entry that this thread
// has noted it goes to the recorder (cairn_answer_slots, filled with the others), else to the function itself, whose slot
// is filled when it is first called.

#include "mpi/preload/binding_frames.h"

        .data
        .balign 8
        .globl  cairn_slots
        .hidden cairn_slots
cairn_slots:
        .macro  slot name
.Lslot_\name:
#if defined(__LP64__)
        .quad   .Lfirst_\name
#else
#error "slots are 64 bits wide"
#endif
        .endm
#define CAIRN_MPI_FUNCTION(name) slot name
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_MPI_FUNCTION

        .set    cairn_index, 0
        .set    cairn_fortran_index, 0
        .set    cairn_profiling_index, 0
        .set    cairn_fortran_base, 0x10000     // these tell cairn_resolve which of the lists an index is of
        .set    cairn_profiling_base, 0x20000

        .bss
        .balign 8
        .globl  cairn_fortran_slots
        .hidden cairn_fortran_slots
cairn_fortran_slots:
#define CAIRN_FORTRAN_ENTRY(name, function, status) .zero 8
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_FORTRAN_ENTRY
        .globl  cairn_profiling_slots
        .hidden cairn_profiling_slots
cairn_profiling_slots:
#define CAIRN_PROFILING_ENTRY(name, function, status) .zero 8
#include CAIRN_MPI_FUNCTIONS_INC
        .globl  cairn_answer_slots
        .hidden cairn_answer_slots
cairn_answer_slots:
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_PROFILING_ENTRY

        // More than a C++ compiler need take in one string.
        .section .rodata
        .globl  cairn_fortran_names
        .hidden cairn_fortran_names
cairn_fortran_names:
#define CAIRN_FORTRAN_ENTRY(name, function, status) .asciz #name
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_FORTRAN_ENTRY

#if defined(__x86_64__)

        .macro  trampoline name
        .globl  \name
        .type   \name, @function
        .balign 16
\name:
        endbr64
        jmp     *.Lslot_\name(%rip)
        .size   \name, . - \name
        .endm

        .macro  first name
.Lfirst_\name:
        endbr64
        pushq   $cairn_index
        jmp     cairn_first_call
        .set    cairn_index, cairn_index + 1
        .endm

        .text
        .type   cairn_first_call, @function
cairn_first_call:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        pushq   %r8
        pushq   %r9
        pushq   %rax            // al: number of vector registers, where the callee is variadic
        pushq   %r10
        subq    $128, %rsp      // with the index, the stack is aligned to 16
        .cfi_def_cfa_offset 208
        movaps  %xmm0, (%rsp)
        movaps  %xmm1, 16(%rsp)
        movaps  %xmm2, 32(%rsp)
        movaps  %xmm3, 48(%rsp)
        movaps  %xmm4, 64(%rsp)
        movaps  %xmm5, 80(%rsp)
        movaps  %xmm6, 96(%rsp)
        movaps  %xmm7, 112(%rsp)
        movl    192(%rsp), %edi
        movq    200(%rsp), %rsi
        call    cairn_resolve
        movq    %rax, %r11
        movaps  (%rsp), %xmm0
        movaps  16(%rsp), %xmm1
        movaps  32(%rsp), %xmm2
        movaps  48(%rsp), %xmm3
        movaps  64(%rsp), %xmm4
        movaps  80(%rsp), %xmm5
        movaps  96(%rsp), %xmm6
        movaps  112(%rsp), %xmm7
        addq    $128, %rsp
        .cfi_def_cfa_offset 80
        popq    %r10
        popq    %rax
        popq    %r9
        popq    %r8
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        addq    $8, %rsp
        .cfi_def_cfa_offset 8
        jmp     *%r11
        .cfi_endproc
        .size   cairn_first_call, . - cairn_first_call

        // The argument of that number, where the program wants a status or says that it does not.
        .macro  note_status number
        movq    cairn_fortran_entry@gottpoff(%rip), %r11
  .ifeq \number - 1
        movq    %rsi, %fs:24(%r11)
  .else
  .ifeq \number - 2
        movq    %rdx, %fs:24(%r11)
  .else
  .ifeq \number - 3
        movq    %rcx, %fs:24(%r11)
  .else
  .ifeq \number - 4
        movq    %r8, %fs:24(%r11)
  .else
  .ifeq \number - 5
        movq    %r9, %fs:24(%r11)
  .else
        movq    8*(\number-5)(%rsp), %r10
        movq    %r10, %fs:24(%r11)
  .endif
  .endif
  .endif
  .endif
  .endif
        .endm

        // None of these is variadic or an internal procedure: rax, r10 and r11 carry nothing.
        .macro  fortran_trampoline name, function, status
        .globl  \name
        .type   \name, @function
        .balign 16
\name:
        endbr64
  .if \status >= 0
        note_status \status
  .endif
        movl    $\function, %r10d
        movl    $cairn_fortran_index, %eax
        jmp     cairn_enter_fortran
        .size   \name, . - \name
        .set    cairn_fortran_index, cairn_fortran_index + 1
        .endm

        .type   cairn_enter_fortran, @function
cairn_enter_fortran:
        .cfi_startproc
        movq    cairn_fortran_entry@gottpoff(%rip), %r11
        cmpq    $0, %fs:8(%r11)
        jne     3f
2:      movl    %r10d, %fs:16(%r11)
        movq    %rsp, %fs:8(%r11)
        movq    (%rsp), %r10
        movq    %r10, %fs:(%r11)
4:      leaq    cairn_fortran_slots(%rip), %r10
        movq    (%r10,%rax,8), %r11
        testq   %r11, %r11
        je      1f
        jmp     *%r11
1:      addl    $cairn_fortran_base, %eax
        pushq   %rax
        .cfi_def_cfa_offset 16
        jmp     cairn_first_call
        .cfi_def_cfa_offset 8
        // No C function has answered the last entry. If that was of the same function, not far up the stack, then one
        // entry has called another (mpi_test_f08_ of Open MPI pmpi_test_) and the first note is the program's.
3:      cmpl    %r10d, %fs:16(%r11)
        jne     5f
        movq    %fs:8(%r11), %r10
        subq    %rsp, %r10
        decq    %r10
        cmpq    $CAIRN_BINDING_FRAMES, %r10
        jb      4b
        movl    %fs:16(%r11), %r10d
5:      cmpl    $0, %fs:16(%r11)
        jl      2b                      // cairn_jumps: that one was answered unseen
        incl    %fs:20(%r11)
        jmp     2b
        .cfi_endproc
        .size   cairn_enter_fortran, . - cairn_enter_fortran

        // rax: some are variadic.
        .macro  profiling_trampoline name, function
        .globl  P\name
        .type   P\name, @function
        .balign 16
P\name:
        endbr64
        movq    cairn_fortran_entry@gottpoff(%rip), %r11
        cmpl    $\function, %fs:16(%r11)
        jne     1f
        movq    %fs:8(%r11), %r10
        subq    %rsp, %r10
        cmpq    $CAIRN_BINDING_FRAMES, %r10
        ja      1f
        cmpb    $0, cairn_recording(%rip)
        je      1f
        testq   %r10, %r10
        jne     2f
        movq    $0, %fs:8(%r11)         // by a jump: the return address is the program's, no note is needed
2:      leaq    cairn_answer_slots(%rip), %r11
        jmp     *8*cairn_profiling_index(%r11)
1:      movl    $cairn_profiling_index, %r11d
        jmp     cairn_go_on
        .size   P\name, . - P\name
        .set    cairn_profiling_index, cairn_profiling_index + 1
        .endm

        .type   cairn_go_on, @function
cairn_go_on:
        .cfi_startproc
        leaq    cairn_profiling_slots(%rip), %r10
        movq    (%r10,%r11,8), %r10
        testq   %r10, %r10
        je      1f
        jmp     *%r10
1:      addl    $cairn_profiling_base, %r11d
        pushq   %r11
        .cfi_def_cfa_offset 16
        jmp     cairn_first_call
        .cfi_endproc
        .size   cairn_go_on, . - cairn_go_on

#elif defined(__aarch64__)

        .macro  trampoline name
        .globl  \name
        .type   \name, %function
        .balign 16
\name:
        hint    #34             // bti c
        adrp    x16, .Lslot_\name
        ldr     x16, [x16, :lo12:.Lslot_\name]
        br      x16             // x16: allowed to land on "bti c"
        .size   \name, . - \name
        .endm

        .macro  first name
.Lfirst_\name:
        hint    #34
        mov     w17, #cairn_index
        b       cairn_first_call
        .set    cairn_index, cairn_index + 1
        .endm

        .text
        .type   cairn_first_call, %function
cairn_first_call:
        .cfi_startproc
        stp     x29, x30, [sp, #-224]!
        .cfi_def_cfa_offset 224
        .cfi_offset 29, -224
        .cfi_offset 30, -216
        mov     x29, sp
        stp     x0, x1, [sp, #16]
        stp     x2, x3, [sp, #32]
        stp     x4, x5, [sp, #48]
        stp     x6, x7, [sp, #64]
        str     x8, [sp, #80]
        stp     q0, q1, [sp, #96]
        stp     q2, q3, [sp, #128]
        stp     q4, q5, [sp, #160]
        stp     q6, q7, [sp, #192]
        mov     w0, w17
        mov     x1, x30
        bl      cairn_resolve
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x2, x3, [sp, #32]
        ldp     x4, x5, [sp, #48]
        ldp     x6, x7, [sp, #64]
        ldr     x8, [sp, #80]
        ldp     q0, q1, [sp, #96]
        ldp     q2, q3, [sp, #128]
        ldp     q4, q5, [sp, #160]
        ldp     q6, q7, [sp, #192]
        ldp     x29, x30, [sp], #224
        .cfi_def_cfa_offset 0
        .cfi_restore 29
        .cfi_restore 30
        br      x16
        .cfi_endproc
        .size   cairn_first_call, . - cairn_first_call

        .macro  fortran_trampoline name, function, status
        .globl  \name
        .type   \name, %function
        .balign 16
\name:
        hint    #34
  .if \status >= 0
        note_status \status
  .endif
        movz    w9, #(\function & 0xffff)
        movk    w9, #(\function >> 16), lsl #16
        mov     w10, #cairn_fortran_index
        b       cairn_enter_fortran
        .size   \name, . - \name
        .set    cairn_fortran_index, cairn_fortran_index + 1
        .endm

        .type   cairn_enter_fortran, %function
cairn_enter_fortran:
        .cfi_startproc
        mrs     x11, tpidr_el0
        adrp    x12, :gottprel:cairn_fortran_entry
        ldr     x12, [x12, :gottprel_lo12:cairn_fortran_entry]
        add     x11, x11, x12
        ldr     x12, [x11, #8]
        cbnz    x12, 3f
2:      mov     x12, sp
        stp     x30, x12, [x11]
        str     w9, [x11, #16]
4:      adrp    x12, cairn_fortran_slots
        add     x12, x12, :lo12:cairn_fortran_slots
        ldr     x16, [x12, x10, lsl #3]
        cbz     x16, 1f
        br      x16
1:      mov     w17, #cairn_fortran_base
        add     w17, w17, w10
        b       cairn_first_call
        // See above.
3:      ldp     w14, w13, [x11, #16]
        cmp     w14, w9
        b.ne    5f
        mov     x15, sp
        sub     x12, x12, x15
        sub     x12, x12, #1
        mov     x15, #CAIRN_BINDING_FRAMES
        cmp     x12, x15
        b.lo    4b
5:      tbnz    w14, #31, 2b            // cairn_jumps: that one was answered unseen
        add     w13, w13, #1
        str     w13, [x11, #20]
        b       2b
        .cfi_endproc
        .size   cairn_enter_fortran, . - cairn_enter_fortran

        .macro  profiling_trampoline name, function
        .globl  P\name
        .type   P\name, %function
        .balign 16
P\name:
        hint    #34
        movz    w9, #(\function & 0xffff)
        movk    w9, #(\function >> 16), lsl #16
        mrs     x11, tpidr_el0
        adrp    x12, :gottprel:cairn_fortran_entry
        ldr     x12, [x12, :gottprel_lo12:cairn_fortran_entry]
        add     x11, x11, x12
        ldr     w12, [x11, #16]
        cmp     w12, w9
        b.ne    1f
        ldr     x12, [x11, #8]
        mov     x13, sp
        sub     x12, x12, x13
        mov     x13, #CAIRN_BINDING_FRAMES
        cmp     x12, x13
        b.hi    1f
        adrp    x12, cairn_recording
        ldrb    w12, [x12, :lo12:cairn_recording]
        cbz     w12, 1f
        ldr     x12, [x11, #8]
        mov     x13, sp
        cmp     x12, x13
        b.ne    2f
        str     xzr, [x11, #8]          // by a jump: the return address is the program's, no note is needed
2:      mov     w10, #cairn_profiling_index
        adrp    x12, cairn_answer_slots
        add     x12, x12, :lo12:cairn_answer_slots
        ldr     x16, [x12, x10, lsl #3]
        br      x16
1:      mov     w10, #cairn_profiling_index
        b       cairn_go_on
        .size   P\name, . - P\name
        .set    cairn_profiling_index, cairn_profiling_index + 1
        .endm

        .type   cairn_go_on, %function
cairn_go_on:
        .cfi_startproc
        adrp    x12, cairn_profiling_slots
        add     x12, x12, :lo12:cairn_profiling_slots
        ldr     x16, [x12, x10, lsl #3]
        cbz     x16, 1f
        br      x16
1:      mov     w17, #cairn_profiling_base
        add     w17, w17, w10
        b       cairn_first_call
        .cfi_endproc
        .size   cairn_go_on, . - cairn_go_on

#else
#error "libcairn's trampolines are written for x86-64 and AArch64 only: add a block here for this machine"
#endif

        .balign 64
        .globl  cairn_trampolines
        .hidden cairn_trampolines
cairn_trampolines:
        .cfi_startproc
#define CAIRN_MPI_FUNCTION(name) trampoline name
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_MPI_FUNCTION
#define CAIRN_FORTRAN_ENTRY(name, function, status) fortran_trampoline name, function, status
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_FORTRAN_ENTRY
#define CAIRN_PROFILING_ENTRY(name, function, status) profiling_trampoline name, function
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_PROFILING_ENTRY
        .cfi_endproc
        .globl  cairn_trampolines_end
        .hidden cairn_trampolines_end
cairn_trampolines_end:

#define CAIRN_MPI_FUNCTION(name) first name
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_MPI_FUNCTION

        .section .note.GNU-stack, "", %progbits
