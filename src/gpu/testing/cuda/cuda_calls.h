// What every function of CUDA's run-time library does first, for the emulator: it fails where its device is broken or
// its stream is gone, and what is to be done on a stream becomes part of the graph that the stream is captured into.
#pragma once

#include <utility>

#include "devices.h"
#include "driver_types.h"

// What went wrong last is forgotten when it is asked for, but for what broke the device.
inline cudaError_t &cairn_last_error() {
  static thread_local cudaError_t error = cudaSuccess;
  return error;
}
inline cudaError_t cairn_failed(cudaError_t error) { return cairn_last_error() = error; }
inline cudaError_t cairn_failed(int error) { return cairn_failed(static_cast<cudaError_t>(error)); }
/// What a call gives whose outcome is that number, 0 being well.
inline cudaError_t cairn_told(int error) { return error != 0 ? cairn_failed(error) : cudaSuccess; }
inline cudaError_t cairn_broken() { return static_cast<cudaError_t>(cairn::emulator::broken_by()); }
inline cudaError_t cudaPeekAtLastError() { return cairn_broken() != cudaSuccess ? cairn_broken() : cairn_last_error(); }
inline cudaError_t cudaGetLastError() {
  const cudaError_t last = std::exchange(cairn_last_error(), cudaSuccess);
  return cairn_broken() != cudaSuccess ? cairn_broken() : last;
}

/// What a call without a stream gives that has nothing else to tell.
inline cudaError_t cairn_done() { return cairn_broken() != cudaSuccess ? cairn_failed(cairn_broken()) : cudaSuccess; }
/// The same for one that may not be made while a stream is captured.
inline cudaError_t cairn_apart() {
  if (const int error = cairn::emulator::unsafe_call(); error != 0) return cairn_failed(error);
  return cairn_done();
}
/// What a call gives whose stream has to be there; the null stream is always. (cairn_stream is a name of programs that
/// `cairn instrument` has written.)
inline cudaError_t cairn_known(cudaStream_t stream) {
  if (stream != nullptr && !cairn::emulator::is_known(stream, cairn::emulator::Kind::stream)) {
    return cairn_failed(cudaErrorInvalidResourceHandle);
  }
  return cairn_done();
}
/// Does `work` now, or when the graph is launched.
template <typename Work>
cudaError_t cairn_on(cudaStream_t stream, Work work) {
  if (const cudaError_t error = cairn_known(stream); error != cudaSuccess) return error;
  cairn::emulator::CaptureState state{};
  int error = cairn::emulator::capture_state(stream, &state);
  if (error == 0 && state == cairn::emulator::CaptureState::none) return work(), cudaSuccess;
  (void)cairn::emulator::is_captured(stream, work, &error);
  return cairn_told(error);
}
