// What hosts need of CUDA's run-time library beside memory (cuda_memory.h), graphs (cuda_graphs.h) and textures
// (texture_functions.h), for the emulator. A launch has ended when it returns, so that all streams are in order; events
// have the host's times. What can fail is told in cuda_calls.h and devices.h.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_graphs.h"
#include "cuda_memory.h"
#include "emulator.h"

// Streams.
constexpr cudaStream_t cudaStreamLegacy = nullptr;
constexpr cudaStream_t cudaStreamPerThread = nullptr;
/// Streams are numbers; those that wait for none count by themselves.
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  static std::atomic<size_t> made[2] = {{0}, {size_t{1} << 16}};
  *stream = reinterpret_cast<cudaStream_t>(++made[flags & cudaStreamNonBlocking]);  // NOLINT: nothing but a name
  cairn::emulator::know(*stream, cairn::emulator::Kind::stream, flags);
  return cairn_done();
}
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const cudaError_t error = cairn_known(stream);
  if (error == cudaSuccess) cairn::emulator::forget(stream);
  return error;
}
/// One that is captured, or waits for such a one, cannot be waited for.
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status); error != cudaSuccess) return error;
  return status != cudaStreamCaptureStatusNone ? cairn_failed(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t called, void *with, unsigned) {
  return cairn_on(stream, [=] { called(stream, cudaSuccess, with); });
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t called, void *with) {
  return cairn_on(stream, [=] { called(with); });
}

// Events.
struct CUevent_st {
  std::chrono::steady_clock::time_point when;
};
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  if (const cudaError_t error = cairn_done(); error != cudaSuccess) return error;
  *event = new CUevent_st{};
  cairn::emulator::know(*event, cairn::emulator::Kind::event, 0);
  return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
inline cudaError_t cairn_event(cudaEvent_t event) {
  return cairn::emulator::is_known(event, cairn::emulator::Kind::event) ? cairn_done()
                                                                        : cairn_failed(cudaErrorInvalidResourceHandle);
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  if (const cudaError_t error = cairn_event(event); error != cudaSuccess) return error;
  if (const cudaError_t error = cairn_known(stream); error != cudaSuccess) return error;
  int error = 0;
  if (!cairn::emulator::capture_event(event, stream, &error)) event->when = std::chrono::steady_clock::now();
  return cairn_told(error);
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
  if (const cudaError_t error = cairn_event(event); error != cudaSuccess) return error;
  return cairn_told(cairn::emulator::wait_for_event(stream, event));
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t error = cairn_event(event); error != cudaSuccess) return error;
  if (cairn::emulator::is_of_capture(event)) return cairn_failed(cudaErrorCapturedEvent);
  return cairn_apart();
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
  for (const cudaEvent_t each : {from, to}) {
    if (const cudaError_t error = cairn_event(each); error != cudaSuccess) return error;
  }
  *ms = std::chrono::duration<float, std::milli>(to->when - from->when).count();
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!cairn::emulator::is_known(event, cairn::emulator::Kind::event)) {
    return cairn_failed(cudaErrorInvalidResourceHandle);
  }
  cairn::emulator::forget(event);
  delete event;
  return cudaSuccess;
}

// Devices.
inline cudaError_t cudaDeviceSynchronize() { return cairn_apart(); }
#if !defined(cudaThreadSynchronize)  // as which programs say it that are to do with CUDA 13
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
#endif
inline cudaError_t cudaDeviceReset() {
  cairn::emulator::reset_device();
  return cudaSuccess;
}
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
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
  cairn::emulator::current_device() = device;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int *device) {
  *device = cairn::emulator::current_device();
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
  of->totalGlobalMem = cairn::emulator::device_memory().all;
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

/// Arguments are copied when the launch is made.
template <typename... Parameters, size_t... I>
cudaError_t launch_with(void (*kernel)(Parameters...), LaunchShape shape, void **arguments, cudaStream_t stream,
                        std::index_sequence<I...>) {
  std::tuple<std::remove_cv_t<std::remove_reference_t<Parameters>>...> copied(
      *static_cast<std::remove_reference_t<Parameters> *>(arguments[I])...);
  return cairn_on(stream, [=]() mutable { launch(shape, [&] { std::apply(kernel, copied); }); });
}

}  // namespace cairn::emulator

template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), cairn::emulator::Triple grid, cairn::emulator::Triple block,
                             void **arguments, size_t shared = 0, cudaStream_t stream = nullptr) {
  return cairn::emulator::launch_with(kernel, {grid, block, shared, false}, arguments, stream,
                                      std::index_sequence_for<Parameters...>());
}
template <typename... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), cairn::emulator::Triple grid,
                                        cairn::emulator::Triple block, void **arguments, size_t shared = 0,
                                        cudaStream_t stream = nullptr) {
  return cairn::emulator::launch_with(kernel, {grid, block, shared, true}, arguments, stream,
                                      std::index_sequence_for<Parameters...>());
}
