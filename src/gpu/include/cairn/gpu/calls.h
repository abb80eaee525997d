// Calls of the program that tracing must know of: a reset of the device, before which is fetched what would be lost,
// and those that ask for the device's memory, which get ours where there is no other. The program is compiled with this
// header in front of its own text, in which the names of these functions stand for functions of ours, that call them:
// where it spells a call, also in a macro's argument or in a header that comes after this one, and where it only names
// one, to call it through a pointer. What libraries do that were compiled without this header is not seen.
//
// The names are macros without arguments, so that a function, a member or a variable of the program with one of these
// names has ours wherever it is named, called or not; Thrust has such a function. A file that is compiled without this
// header knows it by the name that it had.
//
// The arguments are evaluated once, and the program gets what the last call gives. Host only, but that a kernel may
// call cudaMalloc.
#pragma once

#include "memory_device.h"

namespace cairn::gpu {

/// What `call` gives; where that is that there is no memory, what it gives when ours has been given back.
template <typename Call>
auto with_room(const Call &call) {
  const bool clean = CAIRN_RT(PeekAtLastError)() == CAIRN_RT(Success);
  auto error = call();
  if (error != CAIRN_RT(ErrorMemoryAllocation)) return error;
  const bool room = Collector::one().make_room([&] { error = call(); });
  // An error from before is one of the program's, which the first call has written over.
  if (room && error == CAIRN_RT(Success) && clean) (void)CAIRN_RT(GetLastError)();
  return error;
}

}  // namespace cairn::gpu

// Of a function `name`: the names of its arguments, in brackets, and its parameters. `theirs` is `name`, or what CUDA
// has made of it where it is a macro already (nvcc --default-stream per-thread).
#define CAIRN_GPU_LISTED(...) __VA_ARGS__
#define CAIRN_GPU_ASKING(ours, theirs, arguments, ...)                                  \
  inline CAIRN_RT(Error_t) ours(__VA_ARGS__) {                                          \
    return ::cairn::gpu::with_room([&] { return theirs(CAIRN_GPU_LISTED arguments); }); \
  }
#define CAIRN_GPU_ASKS(name, arguments, ...) CAIRN_GPU_ASKING(cairn_##name, name, arguments, __VA_ARGS__)
/// Whose first argument is the place of a pointer, of any type.
#define CAIRN_GPU_ASKS_AT(name, arguments, ...)                                                     \
  CAIRN_GPU_ASKING(cairn_##name, name, (at, CAIRN_GPU_LISTED arguments), void **at, __VA_ARGS__)    \
  template <typename T>                                                                             \
  CAIRN_RT(Error_t)                                                                                 \
  cairn_##name(T **at, __VA_ARGS__) {                                                               \
    return cairn_##name(static_cast<void **>(static_cast<void *>(at)), CAIRN_GPU_LISTED arguments); \
  }

#if defined(__HIPCC__) && !defined(__CUDACC__)

inline hipError_t cairn_hipDeviceReset() {
  return cairn::gpu::Collector::one().reset([] { return hipDeviceReset(); });
}
CAIRN_GPU_ASKS_AT(hipMalloc, (size), size_t size)
CAIRN_GPU_ASKS_AT(hipMallocManaged, (size, flags), size_t size, unsigned flags = hipMemAttachGlobal)
CAIRN_GPU_ASKS_AT(hipMallocAsync, (size, stream), size_t size, hipStream_t stream)
CAIRN_GPU_ASKS_AT(hipMallocPitch, (pitch, width, height), size_t *pitch, size_t width, size_t height)
CAIRN_GPU_ASKS_AT(hipExtMallocWithFlags, (size, flags), size_t size, unsigned flags)
CAIRN_GPU_ASKS(hipMalloc3D, (at, extent), hipPitchedPtr *at, hipExtent extent)
CAIRN_GPU_ASKS(hipMallocArray, (array, format, width, height, flags), hipArray **array,
               const hipChannelFormatDesc *format, size_t width, size_t height = 0, unsigned flags = 0)
CAIRN_GPU_ASKS(hipMalloc3DArray, (array, format, extent, flags), hipArray **array, const hipChannelFormatDesc *format,
               hipExtent extent, unsigned flags = 0)
#undef hipMallocAsync
#define hipDeviceReset cairn_hipDeviceReset
#define hipMalloc cairn_hipMalloc
#define hipMallocManaged cairn_hipMallocManaged
#define hipMallocAsync cairn_hipMallocAsync
#define hipMallocPitch cairn_hipMallocPitch
#define hipExtMallocWithFlags cairn_hipExtMallocWithFlags
#define hipMalloc3D cairn_hipMalloc3D
#define hipMallocArray cairn_hipMallocArray
#define hipMalloc3DArray cairn_hipMalloc3DArray

#else

inline cudaError_t cairn_cudaDeviceReset() {
  return cairn::gpu::Collector::one().reset([] { return cudaDeviceReset(); });
}
#if defined(__CUDACC__)
__host__ __device__ inline cudaError_t cairn_cudaMalloc(void **at, size_t size) {
#if defined(__CUDA_ARCH__)
  return cudaMalloc(at, size);  // kernels may ask for memory, too, which is none that we have
#else
  return cairn::gpu::with_room([&] { return cudaMalloc(at, size); });
#endif
}
template <typename T>
__host__ __device__ cudaError_t cairn_cudaMalloc(T **at, size_t size) {
  return cairn_cudaMalloc(static_cast<void **>(static_cast<void *>(at)), size);
}
#else
CAIRN_GPU_ASKS_AT(cudaMalloc, (size), size_t size)
#endif
CAIRN_GPU_ASKS_AT(cudaMallocManaged, (size, flags), size_t size, unsigned flags = cudaMemAttachGlobal)
CAIRN_GPU_ASKS_AT(cudaMallocAsync, (size, stream), size_t size, cudaStream_t stream)
CAIRN_GPU_ASKS_AT(cudaMallocPitch, (pitch, width, height), size_t *pitch, size_t width, size_t height)
CAIRN_GPU_ASKS(cudaMalloc3D, (at, extent), cudaPitchedPtr *at, cudaExtent extent)
CAIRN_GPU_ASKS(cudaMallocArray, (array, format, width, height, flags), cudaArray_t *array,
               const cudaChannelFormatDesc *format, size_t width, size_t height = 0, unsigned flags = 0)
CAIRN_GPU_ASKS(cudaMalloc3DArray, (array, format, extent, flags), cudaArray_t *array,
               const cudaChannelFormatDesc *format, cudaExtent extent, unsigned flags = 0)
#if !defined(CAIRN_GPU_EMULATOR)
CAIRN_GPU_ASKS_AT(cudaMallocAsync, (size, pool, stream), size_t size, cudaMemPool_t pool, cudaStream_t stream)
CAIRN_GPU_ASKS_AT(cudaMallocFromPoolAsync, (size, pool, stream), size_t size, cudaMemPool_t pool, cudaStream_t stream)
CAIRN_GPU_ASKS(cudaMallocMipmappedArray, (array, format, extent, levels, flags), cudaMipmappedArray_t *array,
               const cudaChannelFormatDesc *format, cudaExtent extent, unsigned levels, unsigned flags = 0)
#undef cudaMallocFromPoolAsync
#define cudaMallocFromPoolAsync cairn_cudaMallocFromPoolAsync
#define cudaMallocMipmappedArray cairn_cudaMallocMipmappedArray
#endif
#undef cudaMallocAsync
#define cudaDeviceReset cairn_cudaDeviceReset
#define cudaMalloc cairn_cudaMalloc
#define cudaMallocManaged cairn_cudaMallocManaged
#define cudaMallocAsync cairn_cudaMallocAsync
#define cudaMallocPitch cairn_cudaMallocPitch
#define cudaMalloc3D cairn_cudaMalloc3D
#define cudaMallocArray cairn_cudaMallocArray
#define cudaMalloc3DArray cairn_cudaMalloc3DArray

#endif
