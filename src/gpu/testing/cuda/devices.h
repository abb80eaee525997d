// Devices of the emulator as the run-time interface sees them: which one a thread uses, what each has given out
// (memory, streams, events), whether a kernel has broken it, and which streams are captured into a graph.
//
// What a device has given out is gone when it is reset, and whoever uses it afterwards is told: what was reset is never
// given out again as the same thing. A device has as much memory as CAIRN_EMULATOR_MEMORY says (64M; without it as much
// as the host). A kernel that traps breaks its device: from then on each call of it fails, until it is reset.
//
// Any threads. Errors are CUDA's numbers, 0 being none; the functions with CUDA's names are in cuda_calls.h and behind.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace cairn::emulator {

/// CAIRN_EMULATOR_DEVICES, or 1. All of them are the same memory.
int device_count();
/// The calling thread's.
int &current_device();

// What the calling thread's device gives out.
enum class Kind : unsigned char {
  memory,   ///< of the device: counted
  ordered,  ///< the same in the order of a stream, which outlives a reset
  host,     ///< pinned or managed memory
  stream,
  event,
};
/// nullptr: the device has not so much left. Zeros.
void *allocate(size_t bytes, Kind kind);
/// False: nothing of the kind is there.
bool release(void *at);
/// A handle. `flags`: what it was made with.
void know(const void *handle, Kind kind, unsigned flags);
void forget(const void *handle);
/// Whether it was made and is not gone.
bool is_known(const void *handle, Kind kind);

struct DeviceMemory {
  size_t left;
  size_t all;
};
/// 4 GiB of 4 GiB where no amount was said.
DeviceMemory device_memory();

/// The calling thread's device: nothing of it is left, and it is whole again. Captures end.
void reset_device();
/// Each call of the calling thread's device fails with this from now on.
void break_device(int error);
int broken_by();

// Captures.
using Work = std::function<void()>;
enum class CaptureMode : unsigned char { global, of_thread, relaxed };
struct Captured {
  std::vector<Work> works;  ///< in an order that keeps to that of each stream and its events
};
/// The calling thread's mode becomes `mode`; gives what it was.
CaptureMode exchange_capture_mode(CaptureMode mode);
int begin_capture(const void *stream, CaptureMode mode);
/// To be deleted by whoever gets it; nullptr with the error.
Captured *end_capture(const void *stream, int *error);
enum class CaptureState : unsigned char { none, active, invalid };
/// Sets `state`; gives an error where the stream waits for one that is captured, as the null stream does.
int capture_state(const void *stream, CaptureState *state);
/// What a thread must not do while certain streams are captured: gives an error then, and the captures are lost.
int unsafe_call();
/// To be done on `stream`: true if it has become part of a graph, or `*error` is set; else it is to be done now.
bool is_captured(const void *stream, const Work &work, int *error);
/// The event is recorded on `stream`: it stands for the capture, if there is one. True: it does.
bool capture_event(const void *event, const void *stream, int *error);
/// `stream` waits for the event, and becomes part of the capture that it stands for, if it does.
int wait_for_event(const void *stream, const void *event);
/// Whether the event stands for a capture: nobody may ask about it then.
bool is_of_capture(const void *event);

}  // namespace cairn::emulator
