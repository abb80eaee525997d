// Frame: one MPI call in flight, and the three steps that a generated wrapper takes around it.
//
// Frames lie on a per-thread shadow stack in the recorder's own memory, not on the program's stack, and a wrapper has
// no cleanup code: an exception or longjmp may leave through it. `enter` finds frames left behind by comparing stack
// addresses and records them as calls that never returned.
//
// A generated wrapper reads
//
//   CAIRN_EXPORT int MPI_Isend(const void *buf, int count, …) {
//     using Call = int (*)(const void *, int, …);
//     Frame *frame = enter(kIsend, __builtin_return_address(0), __builtin_frame_address(0));
//     if (frame == nullptr) return reinterpret_cast<Call>(pmpi_function[kIsend])(buf, count, …);   // pass-through
//     frame->argument[0] = word(buf);
//     …
//     begin(frame);                        // reads what the call may overwrite; takes the time
//     int result = reinterpret_cast<Call>(real_function[kIsend])(buf, count, …);
//     frame->result = word(result);
//     end(frame);                          // takes the time; names, interns and appends the event
//     return result;
//   }
//
// and nothing else. errno is preserved by all three.
//
// Most calls are the one that the grammar predicts. `enter` knows such a call by its return address and notes the
// signature that it expects; `begin` is then a reading of the clock, and `end` compares words (fast_path.cc).
// Everything else goes through engine.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "mpi/store/clock.h"
#include "spec/spec.h"

namespace cairn::recorder {

struct Site;
struct Memo;

struct alignas(64) Frame {
  uint64_t begin;            ///< clock ticks
  uint64_t result;           ///< the returned word
  uintptr_t return_address;  ///< by which `site` was found; 0: by something else. Where a memo is expected it says both
  Memo *expected;            ///< of the predicted signature, if it is one of this return address; nullptr: the long way
  Site *site;
  uintptr_t stack;  ///< frame address of the wrapper
  uint32_t function;
  uint32_t depth;    ///< calls of the program this one is nested in
  uint32_t scratch;  ///< mark in the thread's scratch where values read by `begin` lie
  uint32_t flags;
  uint64_t argument[spec::kMaxParameters];  ///< the C arguments as 64-bit words
};

constexpr uint32_t kFrameSaved = 1;     ///< Frame::flags: `save_before` ran
constexpr uint32_t kFrameRecorded = 2;  ///< the event is already in the sequence
constexpr uint32_t kFrameBare = 8;      ///< there was no memory for what the call may overwrite
constexpr uint32_t kFrameKept = 16;     ///< stands in the sequence though tracing is off
constexpr uint32_t kFramePlain = 4;     ///< all that `begin` has to do is to read the processor's counter

/// The real MPI functions by function id. `real_function` is what the program's calls go to (PMPI_, or the oracle's
/// logger in between); `pmpi_function` is always PMPI_. Filled before the first wrapper of the library returns from
/// `enter`.
extern void *real_function[];
extern void *pmpi_function[];

/// nullptr: do not record this call (recorder off, call made by the MPI library itself, no memory).
Frame *enter(uint32_t function, void *return_address, void *frame_address);
/// After an MPI_Init (or _thread) for which `enter` gave no frame: the other ranks count on this one's part in what
/// follows.
void unrecorded_init(int result);
/// What a program that has entered a Fortran binding asked for: MPI_STATUS_IGNORE (`all`: MPI_STATUSES_IGNORE), or the
/// status that the binding hands over.
uint64_t wanted_status(const void *in_binding, bool all);
void begin_slowly(Frame *frame);
inline void begin(Frame *frame) {
  if ((frame->flags & kFramePlain) == 0) return begin_slowly(frame);
  frame->begin = Clock::counter();
}
void end(Frame *frame);

/// Any argument or result as a word: integers are sign-extended, doubles bit-cast, aggregates are not supported.
template <typename T>
inline uint64_t word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uint64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

}  // namespace cairn::recorder
