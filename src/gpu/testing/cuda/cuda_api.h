// What hosts need of CUDA's run-time library, for the emulator. Memory is the host's, whatever the device; a launch has
// ended when it returns, and streams and events are names; errors don't happen, but for devices that are not there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "emulator.h"

using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;
constexpr cudaError_t cudaErrorInvalidValue = 1;
constexpr cudaError_t cudaErrorMemoryAllocation = 2;
constexpr cudaError_t cudaErrorInvalidDevice = 101;
using cudaStream_t = void *;
using cudaEvent_t = struct CairnEvent *;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaDeviceAttr {
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
  int warpSize, maxThreadsPerBlock, major, minor, multiProcessorCount, cooperativeLaunch;
};
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDisableTiming = 2;

inline const char *cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "an error"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }

// Memory.
template <typename T>
cudaError_t cudaMalloc(T **at, size_t size) {
  *at = static_cast<T *>(std::calloc(1, size == 0 ? 1 : size));
  return *at == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
template <typename T>
cudaError_t cudaMallocManaged(T **at, size_t size, unsigned = 0) {
  return cudaMalloc(at, size);
}
template <typename T>
cudaError_t cudaMallocHost(T **at, size_t size, unsigned = 0) {
  return cudaMalloc(at, size);
}
template <typename T>
cudaError_t cudaMallocAsync(T **at, size_t size, cudaStream_t) {
  return cudaMalloc(at, size);
}
inline cudaError_t cudaFree(void *at) {
  std::free(at);
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void *at) { return cudaFree(at); }
inline cudaError_t cudaFreeAsync(void *at, cudaStream_t) { return cudaFree(at); }
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind) {
  std::memcpy(to, from, size);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, size, kind);
}
inline cudaError_t cudaMemset(void *at, int value, size_t size) {
  std::memset(at, value, size);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *at, int value, size_t size, cudaStream_t = nullptr) {
  return cudaMemset(at, value, size);
}
template <typename T>
cudaError_t cudaMemcpyToSymbol(T &to, const void *from, size_t size) {
  std::memcpy(&to, from, size);
  return cudaSuccess;
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &from, size_t size) {
  std::memcpy(to, &from, size);
  return cudaSuccess;
}

// Streams and events.
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  static std::atomic<size_t> made{0};
  *stream = reinterpret_cast<cudaStream_t>(++made);  // NOLINT(performance-no-int-to-ptr): nothing but a name
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
struct CairnEvent {
  std::chrono::steady_clock::time_point when;
};
inline cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = new CairnEvent{};
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { return cudaEventCreate(event); }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  event->when = std::chrono::steady_clock::now();
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = std::chrono::duration<float, std::milli>(to->when - from->when).count();
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

// Devices.
inline int &cairn_device() {
  static thread_local int device = 0;
  return device;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) {
  *count = cairn::emulator::device_count();
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= cairn::emulator::device_count()) return cudaErrorInvalidDevice;
  cairn_device() = device;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int *device) {
  *device = cairn_device();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrWarpSize:
      *value = 32;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
    case cudaDevAttrCooperativeLaunch:
      *value = 1;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(cairn::emulator::kMostDynamicShared);
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *of, int) {
  *of = {};
  std::strcpy(of->name, "Cairn's emulator");
  of->totalGlobalMem = size_t{1} << 32;
  of->sharedMemPerBlock = size_t{48} << 10;
  of->sharedMemPerBlockOptin = cairn::emulator::kMostDynamicShared;
  of->warpSize = 32;
  of->maxThreadsPerBlock = 1024;
  of->major = 9;
  of->multiProcessorCount = 1;
  of->cooperativeLaunch = 1;
  return cudaSuccess;
}

// Kernels by name.
template <typename F>
cudaError_t cudaFuncSetAttribute(F *, cudaFuncAttribute, int) {
  return cudaSuccess;
}
template <typename F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *, int threads, size_t) {
  *blocks = 2048 / (threads < 32 ? 32 : threads);
  return cudaSuccess;
}

namespace cairn::emulator {

template <typename... Parameters, size_t... I>
void launch_with(void (*kernel)(Parameters...), LaunchShape shape, void **arguments, std::index_sequence<I...>) {
  launch(shape, [&] { kernel(*static_cast<std::remove_reference_t<Parameters> *>(arguments[I])...); });
}

}  // namespace cairn::emulator

template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), cairn::emulator::Triple grid, cairn::emulator::Triple block,
                             void **arguments, size_t shared = 0, cudaStream_t = nullptr) {
  cairn::emulator::launch_with(kernel, {grid, block, shared, false}, arguments,
                               std::index_sequence_for<Parameters...>());
  return cudaSuccess;
}
template <typename... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), cairn::emulator::Triple grid,
                                        cairn::emulator::Triple block, void **arguments, size_t shared = 0,
                                        cudaStream_t = nullptr) {
  cairn::emulator::launch_with(kernel, {grid, block, shared, true}, arguments,
                               std::index_sequence_for<Parameters...>());
  return cudaSuccess;
}
