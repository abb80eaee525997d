// What hosts need of CUDA's run-time library beside memory (cuda_memory.h) and textures (texture_functions.h), for the
// emulator. A launch has ended when it returns, so that all streams are in order; events have the host's times; errors
// don't happen, but for devices that are not there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "cuda_memory.h"
#include "driver_types.h"
#include "emulator.h"

// What went wrong last is forgotten when it is asked for.
inline cudaError_t &cairn_last_error() {
  static thread_local cudaError_t error = cudaSuccess;
  return error;
}
inline cudaError_t cairn_failed(cudaError_t error) { return cairn_last_error() = error; }
inline cudaError_t cudaPeekAtLastError() { return cairn_last_error(); }
inline cudaError_t cudaGetLastError() { return std::exchange(cairn_last_error(), cudaSuccess); }

// Streams.
constexpr cudaStream_t cudaStreamLegacy = nullptr;
constexpr cudaStream_t cudaStreamPerThread = nullptr;
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  static std::atomic<size_t> made{0};
  *stream = reinterpret_cast<cudaStream_t>(++made);  // NOLINT(performance-no-int-to-ptr): nothing but a name
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t called, void *with, unsigned) {
  called(stream, cudaSuccess, with);
  return cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t called, void *with) {
  called(with);
  return cudaSuccess;
}

// Events.
struct CUevent_st {
  std::chrono::steady_clock::time_point when;
};
inline cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = new CUevent_st{};
  return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned) { return cudaEventCreate(event); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { return cudaEventCreate(event); }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  event->when = std::chrono::steady_clock::now();
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
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
inline cudaError_t cudaThreadSynchronize() { return cudaSuccess; }
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
inline cudaError_t cudaThreadExit() { return cudaSuccess; }
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit) {
  *value = size_t{8} << 20;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }
inline cudaError_t cudaGetDeviceCount(int *count) {
  *count = cairn::emulator::device_count();
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= cairn::emulator::device_count()) return cairn_failed(cudaErrorInvalidDevice);
  cairn_device() = device;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int *device) {
  *device = cairn_device();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  *can = 1;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return cudaSuccess; }
/// A device of compute capability 9.0 with one multiprocessor.
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *of, int device) {
  if (device < 0 || device >= cairn::emulator::device_count()) return cairn_failed(cudaErrorInvalidDevice);
  *of = {};
  std::snprintf(of->name, sizeof of->name, "Cairn's emulator");
  of->totalGlobalMem = size_t{1} << 32;
  of->sharedMemPerBlock = size_t{48} << 10;
  of->sharedMemPerBlockOptin = cairn::emulator::kMostDynamicShared;
  of->sharedMemPerMultiprocessor = size_t{228} << 10;
  of->totalConstMem = size_t{64} << 10;
  of->memPitch = (size_t{1} << 31) - 1;
  of->textureAlignment = 512;
  of->texturePitchAlignment = 32;
  of->regsPerBlock = of->regsPerMultiprocessor = 65536;
  of->warpSize = 32;
  of->maxThreadsPerBlock = 1024;
  of->maxThreadsPerMultiProcessor = 2048;
  of->maxBlocksPerMultiProcessor = 32;
  of->maxThreadsDim[0] = of->maxThreadsDim[1] = 1024;
  of->maxThreadsDim[2] = 64;
  of->maxGridSize[0] = 2147483647;
  of->maxGridSize[1] = of->maxGridSize[2] = 65535;
  of->clockRate = of->memoryClockRate = 1000000;
  of->memoryBusWidth = 64;
  of->major = 9;
  of->multiProcessorCount = static_cast<int>(cairn::emulator::processor_count());
  of->l2CacheSize = 1 << 20;
  of->canMapHostMemory = of->concurrentKernels = of->asyncEngineCount = of->deviceOverlap = of->unifiedAddressing =
      of->managedMemory = of->concurrentManagedAccess = of->pageableMemoryAccess = of->hostNativeAtomicSupported =
          of->cooperativeLaunch = 1;
  of->maxTexture1D = of->maxTexture2D[0] = of->maxTexture2D[1] = 65536;
  of->maxTexture3D[0] = of->maxTexture3D[1] = of->maxTexture3D[2] = 16384;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp all;
  if (const cudaError_t error = cudaGetDeviceProperties(&all, device); error != cudaSuccess) return error;
  switch (attribute) {
#define CAIRN_ATTRIBUTE(name, from)      \
  case cudaDevAttr##name:                \
    *value = static_cast<int>(all.from); \
    return cudaSuccess;
    CAIRN_ATTRIBUTE(MaxThreadsPerBlock, maxThreadsPerBlock)
    CAIRN_ATTRIBUTE(MaxSharedMemoryPerBlock, sharedMemPerBlock)
    CAIRN_ATTRIBUTE(TotalConstantMemory, totalConstMem)
    CAIRN_ATTRIBUTE(WarpSize, warpSize)
    CAIRN_ATTRIBUTE(MaxRegistersPerBlock, regsPerBlock)
    CAIRN_ATTRIBUTE(ClockRate, clockRate)
    CAIRN_ATTRIBUTE(MultiProcessorCount, multiProcessorCount)
    CAIRN_ATTRIBUTE(Integrated, integrated)
    CAIRN_ATTRIBUTE(CanMapHostMemory, canMapHostMemory)
    CAIRN_ATTRIBUTE(ComputeMode, computeMode)
    CAIRN_ATTRIBUTE(ConcurrentKernels, concurrentKernels)
    CAIRN_ATTRIBUTE(MemoryClockRate, memoryClockRate)
    CAIRN_ATTRIBUTE(GlobalMemoryBusWidth, memoryBusWidth)
    CAIRN_ATTRIBUTE(L2CacheSize, l2CacheSize)
    CAIRN_ATTRIBUTE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
    CAIRN_ATTRIBUTE(UnifiedAddressing, unifiedAddressing)
    CAIRN_ATTRIBUTE(ComputeCapabilityMajor, major)
    CAIRN_ATTRIBUTE(ComputeCapabilityMinor, minor)
    CAIRN_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor)
    CAIRN_ATTRIBUTE(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)
    CAIRN_ATTRIBUTE(ManagedMemory, managedMemory)
    CAIRN_ATTRIBUTE(PageableMemoryAccess, pageableMemoryAccess)
    CAIRN_ATTRIBUTE(ConcurrentManagedAccess, concurrentManagedAccess)
    CAIRN_ATTRIBUTE(CooperativeLaunch, cooperativeLaunch)
    CAIRN_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
#undef CAIRN_ATTRIBUTE
    case cudaDevAttrMemoryPoolsSupported:
      *value = 0;
      return cudaSuccess;
  }
  return cairn_failed(cudaErrorInvalidValue);
}

// Kernels by name.
template <typename F>
cudaError_t cudaFuncSetAttribute(F *, cudaFuncAttribute, int) {
  return cudaSuccess;
}
template <typename F>
cudaError_t cudaFuncSetCacheConfig(F *, cudaFuncCache) {
  return cudaSuccess;
}
template <typename F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *of, F *) {
  *of = {0, 0, 0, 1024, 32, 90, 90, static_cast<int>(cairn::emulator::kMostDynamicShared)};
  return cudaSuccess;
}
template <typename F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *, int threads, size_t) {
  *blocks = 2048 / (threads < 64 ? 64 : threads);
  return cudaSuccess;
}
template <typename F, typename S = size_t>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, F *, S = {}, int most = 0) {
  *block = most > 0 && most < 1024 ? most : 1024;
  *grid = 2048 / *block;
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
