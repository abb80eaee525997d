// Tracing inside GPU kernels: which way each warp went, and which of its lanes. One header for the device and the host;
// CUDA, HIP, or Cairn's emulator on the CPU. `cairn instrument` writes all of this into a source; by hand it is:
//
//   __global__ void kernel(int n, cairn::gpu::Trace trace) {
//     CAIRN_KERNEL(trace);                   // first, in every kernel from which points can be reached
//     CAIRN_POINT(1);                        // who is here
//     if (CAIRN_BRANCH(2, threadIdx.x < n))  // who asks, and (as location 3) who goes in
//       work();                              // device functions have points of their own
//     int end = CAIRN_VALUE(4, bounds[i]);   // who is here, and the value of each: a number, enumerator or pointer
//     CAIRN_ACCESS(5, out[i]) = end;         // who is here, and what memory each is about to touch
//     atomicAdd(CAIRN_THROUGH(6, sum), 1);   // the same, by its address
//   }
//   kernel<<<grid, block, 0, stream>>>(n, CAIRN_LAUNCH(program, 0, grid, block, stream));
//
// where `program` is a cairn::gpu::Program, which must live as long as the process. The trace is written at exit
// (collect.h says where); the environment says what is traced (settings.h). Its table must have locations with values
// as Kind::value, and those with accesses as Kind::load, store, update or atomic: what reads the trace knows by that
// where values stand. Locations are 1 to 255, or to 65,535 with
// CAIRN_GPU_LOCATION_BITS defined as 16 in front of this header. With CAIRN_GPU_OFF defined nothing is left of it.
//
// CAIRN_GPU_CODER_RAW chooses the coder `raw` in place of `predict`, to compare with.
#pragma once

#if defined(CAIRN_GPU_OFF)

#include "gpu/program.h"
#if defined(CAIRN_GPU_EMULATOR)
#include <cuda_runtime.h>
#elif defined(__HIPCC__) && !defined(__CUDACC__)
#include <hip/hip_runtime.h>
#endif
namespace cairn::gpu {
struct Trace {};
struct Launch {
  using Passed = Trace;
  template <typename... Arguments>
  Launch(Arguments &&...) {}
  operator Trace() const { return {}; }
};
#if defined(__HIPCC__) && !defined(__CUDACC__)
using Stream = hipStream_t;
#else
using Stream = cudaStream_t;
#endif
}  // namespace cairn::gpu
#define CAIRN_KERNEL(trace) ((void)(trace))
#define CAIRN_AT(id) ((void)0)
#define CAIRN_BRANCH(id, condition) (condition)
#define CAIRN_VALUE(id, value) (value)
#define CAIRN_ACCESS(id, place) (place)
#define CAIRN_THROUGH(id, address) (address)

#else

#include "gpu/launch.h"
#define CAIRN_KERNEL(trace) const ::cairn::gpu::KernelScope cairn_kernel_scope(trace)
/// An expression, for where no statement can stand: (CAIRN_AT(4), value).
#define CAIRN_AT(id) ::cairn::gpu::point(id)
#define CAIRN_BRANCH(id, condition) ::cairn::gpu::branch(id, (condition) ? true : false)
#define CAIRN_VALUE(id, value) ::cairn::gpu::value_point(id, value)
#define CAIRN_ACCESS(id, place) ::cairn::gpu::access_point(id, place)
#define CAIRN_THROUGH(id, address) ::cairn::gpu::access_through(id, address)

#endif

#define CAIRN_POINT(id) \
  do {                  \
    CAIRN_AT(id);       \
  } while (false)
#if !defined(CAIRN_GPU_LOCATION_BITS)
#define CAIRN_GPU_LOCATION_BITS 8
#endif
#define CAIRN_LAUNCH(program, kernel, grid, block, stream) \
  ::cairn::gpu::Launch((program), (kernel), dim3(grid), dim3(block), CAIRN_GPU_LOCATION_BITS, (stream))
/// Stands for `call`, cudaLaunchKernel or one like it, which takes the kernel's arguments, `count` of them, as an
/// array.
#define CAIRN_LAUNCH_ARRAY(count, program, kernel, call)                            \
  ::cairn::gpu::array_launcher<count>((program), (kernel), CAIRN_GPU_LOCATION_BITS, \
                                      [](auto... argument) { return call(argument...); })

namespace cairn::gpu {

template <unsigned Count, typename Call>
struct ArrayLauncher {
  const Program &program;
  uint32_t number;
  uint32_t location_bits;
  Call call;
  template <typename Kernel>
  auto operator()(Kernel kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                  Stream stream = nullptr) const {
    const Launch launch(program, number, grid, block, location_bits, stream);
    Trace trace = launch;
    void *all[Count + 1];
    for (unsigned i = 0; i < Count; ++i) all[i] = arguments[i];
    all[Count] = &trace;
    return call(kernel, grid, block, static_cast<void **>(all), shared, stream);
  }
};
template <unsigned Count, typename Call>
ArrayLauncher<Count, Call> array_launcher(const Program &program, uint32_t number, uint32_t location_bits, Call call) {
  return {program, number, location_bits, call};
}

}  // namespace cairn::gpu
