// Calls of the program that tracing must know of: a reset of the device, before which is fetched what would be lost,
// and those that ask for the device's memory, which get ours where there is no other. The program is compiled with this
// header in front of its own text, so a call that it spells, `cudaDeviceReset()`, also in a macro's argument or in a
// header that comes after this one, becomes a call of ours. What libraries do that were compiled without this header,
// and calls through pointers or with their names in brackets, `(cudaDeviceReset)()`, are not seen.
//
// The arguments are evaluated once, and the program gets what the last call gives. A function of the program with one
// of these names gets ours wherever this header is. Host only, but that a kernel may call cudaMalloc.
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

// Of a function `name`: the names of its arguments, in brackets, and its parameters.
#define CAIRN_GPU_LISTED(...) __VA_ARGS__
#define CAIRN_GPU_ASKS(name, arguments, ...)                                          \
  inline CAIRN_RT(Error_t) cairn_##name(__VA_ARGS__) {                                \
    return ::cairn::gpu::with_room([&] { return name(CAIRN_GPU_LISTED arguments); }); \
  }
/// Whose first argument is the place of a pointer, of any type.
#define CAIRN_GPU_ASKS_AT(name, arguments, ...)                                                     \
  CAIRN_GPU_ASKS(name, (at, CAIRN_GPU_LISTED arguments), void **at, __VA_ARGS__)                    \
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
// Some may be macros already, which ours have taken in.
#undef hipMallocAsync
#define hipDeviceReset() cairn_hipDeviceReset()
#define hipMalloc(...) cairn_hipMalloc(__VA_ARGS__)
#define hipMallocManaged(...) cairn_hipMallocManaged(__VA_ARGS__)
#define hipMallocAsync(...) cairn_hipMallocAsync(__VA_ARGS__)
#define hipMallocPitch(...) cairn_hipMallocPitch(__VA_ARGS__)
#define hipExtMallocWithFlags(...) cairn_hipExtMallocWithFlags(__VA_ARGS__)
#define hipMalloc3D(...) cairn_hipMalloc3D(__VA_ARGS__)
#define hipMallocArray(...) cairn_hipMallocArray(__VA_ARGS__)
#define hipMalloc3DArray(...) cairn_hipMalloc3DArray(__VA_ARGS__)

#else

inline cudaError_t cairn_cudaDeviceReset() {
  return cairn::gpu::Collector::one().reset([] { return cudaDeviceReset(); });
}
#if defined(__CUDA_ARCH__)
// Kernels may ask for memory, too, which is none that we have.
template <typename T>
__host__ __device__ cudaError_t cairn_cudaMalloc(T **at, size_t size) {
  return cudaMalloc(at, size);
}
#elif defined(__CUDACC__)
template <typename T>
__host__ __device__ cudaError_t cairn_cudaMalloc(T **at, size_t size) {
  return cairn::gpu::with_room([&] { return cudaMalloc(at, size); });
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
// Some may be macros already, which ours have taken in.
#undef cudaMallocAsync
#undef cudaMallocFromPoolAsync
#define cudaMallocFromPoolAsync(...) cairn_cudaMallocFromPoolAsync(__VA_ARGS__)
#define cudaMallocMipmappedArray(...) cairn_cudaMallocMipmappedArray(__VA_ARGS__)
#endif
#define cudaDeviceReset() cairn_cudaDeviceReset()
#define cudaMalloc(...) cairn_cudaMalloc(__VA_ARGS__)
#define cudaMallocManaged(...) cairn_cudaMallocManaged(__VA_ARGS__)
#define cudaMallocAsync(...) cairn_cudaMallocAsync(__VA_ARGS__)
#define cudaMallocPitch(...) cairn_cudaMallocPitch(__VA_ARGS__)
#define cudaMalloc3D(...) cairn_cudaMalloc3D(__VA_ARGS__)
#define cudaMallocArray(...) cairn_cudaMallocArray(__VA_ARGS__)
#define cudaMalloc3DArray(...) cairn_cudaMalloc3DArray(__VA_ARGS__)

#endif
