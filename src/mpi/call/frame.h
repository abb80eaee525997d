// The three steps that a generated wrapper takes around an MPI call, whose Frame is in flight meanwhile.
//
// Frames (store/frame.h) lie on a per-thread shadow stack in the recorder's own memory, not on the program's stack, and
// a wrapper has no cleanup code: an exception or longjmp may leave through it. `enter` finds frames left behind by
// comparing stack addresses and records them as calls that never returned.
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
// A status that the program ignores is told all the same where it says whom a receive from anybody heard (told_status).
//
// Most calls are the one that the grammar predicts. `enter` knows such a call by its return address and notes the
// signature that it expects; `begin` is then a reading of the clock, and `end` compares words (fast_path.cc).
// Everything else goes through engine.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "mpi/store/clock.h"
#include "mpi/store/frame.h"

namespace cairn::recorder {

/// The real MPI functions by function id. `real_function` is what the program's calls go to (PMPI_, or the oracle's
/// logger in between); `pmpi_function` is always PMPI_. Filled before the first wrapper of the library returns from
/// `enter`.
extern void *real_function[];
extern bool oracle_between;  ///< `real_function` are the oracle's loggers
extern void *pmpi_function[];

/// nullptr: do not record this call (recorder off, call made by the MPI library itself, no memory).
Frame *enter(uint32_t function, void *return_address, void *frame_address);
/// After an MPI_Init (or _thread) for which `enter` gave no frame: the other ranks count on this one's part in what
/// follows.
void unrecorded_init(int result);
/// What a program that has entered a Fortran binding asked for: MPI_STATUS_IGNORE (`all`: MPI_STATUSES_IGNORE), or the
/// status that the binding hands over.
uint64_t wanted_status(const void *in_binding, bool all);
/// Some receive from anybody made a request, or some request was cancelled: what ignored statuses say is not implied.
extern std::atomic<bool> wild_requests;
/// Room of the recorder for the statuses that the call gives, which stays until the thread's next call of that depth;
/// nullptr without memory.
void *own_statuses(const Frame &frame);
/// What to give to MPI as status parameter `i`. `asked`: what the program gave, `given`: what it or its binding gives
/// MPI, `ignored`: MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE, `wild`: it may say whom a receive from anybody heard. The
/// frame's other arguments are there.
template <typename Status>
inline Status *told_status(Frame *frame, unsigned i, Status *given, uint64_t asked, const Status *ignored, bool wild) {
  if (!wild || asked != reinterpret_cast<uint64_t>(ignored)) [[likely]]
    return given;
  if (given == ignored) {
    auto *const own = static_cast<Status *>(own_statuses(*frame));
    if (own == nullptr) return given;
    given = own;
  }
  frame->flags |= kFrameTold;
  frame->argument[i] = reinterpret_cast<uint64_t>(given);
  return given;
}
void begin_slowly(Frame *frame);
inline void begin(Frame *frame) {
  if ((frame->flags & kFramePlain) == 0) return begin_slowly(frame);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a frame that has begun has its arguments (store/frame.h)
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
