// Frame: one MPI call in flight. Frames lie on a shadow stack of their thread (call/thread.h), in the arena, so that a
// reader of it finds what a thread is in, be its process killed or alive (pending.h).
//
// What such a reader may trust: the thread alone writes, and its stores are seen in the order of its code. `enter`
// fills a frame and then raises `depth`; the arguments follow, and `begin` is stored last, so that it says what it said
// of the call before until the rest is there. A thread is `busy` while it is in the recorder: before the real call, or
// after it.
#pragma once

#include <cstdint>

#include "base/growable.h"
#include "spec/spec.h"

namespace cairn::recorder {

struct Memo;
struct Process;
struct Site;
struct ThreadStack;

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
constexpr uint32_t kFramePlain = 4;     ///< all that `begin` has to do is to read the processor's counter
constexpr uint32_t kFrameBare = 8;      ///< there was no memory for what the call may overwrite
constexpr uint32_t kFrameKept = 16;     ///< stands in the sequence though tracing is off
constexpr uint32_t kFrameTold = 32;     ///< its status argument is told, and the program ignores it

constexpr uint32_t kMostFrames = 64;  ///< of a thread

/// Where a thread stands in its calls.
struct CallsInFlight {
  Process *process;
  uint32_t depth;  ///< frames in flight
  bool busy;       ///< inside the recorder: a signal handler that calls MPI now is not recorded
  Memo *expected;  ///< of the signature that `sequence.calls` predicts; nullptr: it has none
};

/// Where the parts of a thread lie that only who looks at its calls in flight needs.
struct InFlight {
  const CallsInFlight *state;
  const Frame *frames;
  const Growable<uint8_t> *before;  ///< what `begin` saved, a stack
  const ThreadStack *stack;
};

}  // namespace cairn::recorder
