// Calls of the program that tracing must know of. The program is compiled with this header in front of its own text, so
// a call that it spells, `cudaDeviceReset()`, also in a macro's argument or in a header that comes after this one,
// becomes a call of ours, which makes it and does what tracing has to do before. What libraries do that were compiled
// without this header, and calls through pointers or with their names in brackets, `(cudaDeviceReset)()`, are not seen.
//
// A function of the program with one of these names gets ours everywhere that this header is. Host only.
#pragma once

#include "memory_device.h"

#if defined(__HIPCC__) && !defined(__CUDACC__)
inline hipError_t cairn_hipDeviceReset() {
  return cairn::gpu::Collector::one().reset([] { return hipDeviceReset(); });
}
#define hipDeviceReset() cairn_hipDeviceReset()
#else
inline cudaError_t cairn_cudaDeviceReset() {
  return cairn::gpu::Collector::one().reset([] { return cudaDeviceReset(); });
}
#define cudaDeviceReset() cairn_cudaDeviceReset()
#endif
