// Graphs of CUDA's run-time library, for the emulator: made by capturing streams, and launched. What is captured is
// done in the order that it was captured in. Graphs that are put together node by node are not there.
#pragma once

#include "cuda_calls.h"

using cudaGraph_t = cairn::emulator::Captured *;
using cudaGraphExec_t = struct CUgraphExec_st *;
struct CUgraphExec_st {
  cairn::emulator::Captured works;
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};

inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  const auto wanted = static_cast<cairn::emulator::CaptureMode>(*mode);
  *mode = static_cast<cudaStreamCaptureMode>(cairn::emulator::exchange_capture_mode(wanted));
  return cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (const cudaError_t error = cairn_known(stream); error != cudaSuccess) return error;
  return cairn_told(cairn::emulator::begin_capture(stream, static_cast<cairn::emulator::CaptureMode>(mode)));
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  int error = 0;
  *graph = cairn::emulator::end_capture(stream, &error);
  return cairn_told(error);
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  if (const cudaError_t error = cairn_known(stream); error != cudaSuccess) return error;
  cairn::emulator::CaptureState state{};
  const int error = cairn::emulator::capture_state(stream, &state);
  *status = static_cast<cudaStreamCaptureStatus>(state);
  return cairn_told(error);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long = 0) {
  if (const cudaError_t error = cairn_done(); error != cudaSuccess) return error;
  *made = new CUgraphExec_st{*graph};
  return cudaSuccess;
}
/// As it was before CUDA 12.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, void *, char *, size_t) {
  return cudaGraphInstantiate(made, graph);
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return cairn_on(stream, [graph] {
    for (const cairn::emulator::Work &work : graph->works.works) {
      if (cairn_broken() == cudaSuccess) work();
    }
  });
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t stream) { return cairn_known(stream); }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
