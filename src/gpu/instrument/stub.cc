// What the parser is given in place of CUDA's and HIP's headers: enough to read programs that use the language, the
// common built-in functions and the everyday part of the run-time interface. Types matter only as far as they choose
// overloads.
#include "gpu/instrument/parse.h"

namespace cairn::instrument {

const char *const kStub = R"stub(#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#pragma clang force_cuda_host_device begin
#include <stdlib.h>
#pragma clang force_cuda_host_device end
#include <new>
#include <algorithm>  // before what follows, which includes part of it
#pragma clang force_cuda_host_device begin
#include <assert.h>
#include <cmath>
#include <cstdint>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#pragma clang force_cuda_host_device end
#ifndef __HIP__
#define __CUDACC__ 1
#define __NVCC__ 1
#define CUDART_VERSION 12000
#define __CUDACC_VER_MAJOR__ 12
#else
#define __HIPCC__ 1
#define __HIP_PLATFORM_AMD__ 1
#endif
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __noinline__  // libstdc++ has it as the name of an attribute, too
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define CAIRN_BOTH __host__ __device__
#define CAIRN_VECTOR(CairnT, CairnN) \
  struct CairnN##1 { CairnT x; }; struct CairnN##2 { CairnT x, y; }; struct CairnN##3 { CairnT x, y, z; }; struct CairnN##4 { CairnT x, y, z, w; }; \
  CAIRN_BOTH CairnN##1 make_##CairnN##1(CairnT); CAIRN_BOTH CairnN##2 make_##CairnN##2(CairnT, CairnT); \
  CAIRN_BOTH CairnN##3 make_##CairnN##3(CairnT, CairnT, CairnT); CAIRN_BOTH CairnN##4 make_##CairnN##4(CairnT, CairnT, CairnT, CairnT);
CAIRN_VECTOR(signed char, char) CAIRN_VECTOR(unsigned char, uchar) CAIRN_VECTOR(short, short)
CAIRN_VECTOR(unsigned short, ushort) CAIRN_VECTOR(int, int) CAIRN_VECTOR(unsigned, uint) CAIRN_VECTOR(long, long)
CAIRN_VECTOR(unsigned long, ulong) CAIRN_VECTOR(long long, longlong) CAIRN_VECTOR(unsigned long long, ulonglong)
CAIRN_VECTOR(float, float) CAIRN_VECTOR(double, double)
struct dim3 {
  unsigned x, y, z;
  constexpr CAIRN_BOTH dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr CAIRN_BOTH dim3(uint3 cairn_v) : x(cairn_v.x), y(cairn_v.y), z(cairn_v.z) {}
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
constexpr int warpSize = 32;

__device__ void __syncthreads(); __device__ int __syncthreads_count(int); __device__ int __syncthreads_and(int);
__device__ int __syncthreads_or(int); __device__ void __syncwarp(unsigned = ~0u); __device__ void __threadfence();
__device__ void __threadfence_block(); __device__ void __threadfence_system(); __device__ unsigned __activemask();
__device__ unsigned __ballot_sync(unsigned, int); __device__ int __all_sync(unsigned, int);
__device__ int __any_sync(unsigned, int); __device__ unsigned long long __ballot(int); __device__ int __all(int);
__device__ int __any(int); __device__ void __nanosleep(unsigned); __device__ void __trap();
__device__ long long clock64(); __device__ unsigned __lane_id();
#define CAIRN_EACH(CairnT) template <class CairnT, class CairnU = int, class CairnV = int, class CairnW = int> __device__
CAIRN_EACH(CairnT) CairnT __shfl_sync(unsigned, CairnT, CairnU, CairnV = 32) { return {}; } CAIRN_EACH(CairnT) CairnT __shfl_up_sync(unsigned, CairnT, CairnU, CairnV = 32) { return {}; }
CAIRN_EACH(CairnT) CairnT __shfl_down_sync(unsigned, CairnT, CairnU, CairnV = 32) { return {}; } CAIRN_EACH(CairnT) CairnT __shfl_xor_sync(unsigned, CairnT, CairnU, CairnV = 32) { return {}; }
CAIRN_EACH(CairnT) CairnT __shfl(CairnT, CairnU, CairnV = 32) { return {}; } CAIRN_EACH(CairnT) CairnT __shfl_up(CairnT, CairnU, CairnV = 32) { return {}; } CAIRN_EACH(CairnT) CairnT __shfl_down(CairnT, CairnU, CairnV = 32) { return {}; }
CAIRN_EACH(CairnT) CairnT __shfl_xor(CairnT, CairnU, CairnV = 32) { return {}; } CAIRN_EACH(CairnT) unsigned __match_any_sync(unsigned, CairnT) { return {}; }
CAIRN_EACH(CairnT) unsigned __match_all_sync(unsigned, CairnT, int *) { return {}; } CAIRN_EACH(CairnT) CairnT __reduce_add_sync(unsigned, CairnT) { return {}; }
#define CAIRN_LOAD(name) CAIRN_EACH(CairnT) CairnT name(const CairnT *) { return {}; }
#define CAIRN_STORE(name) CAIRN_EACH(CairnT) void name(CairnT *, CairnT) {}
#define CAIRN_REDUCE(name) CAIRN_EACH(CairnT) CairnT name(unsigned, CairnT) { return {}; }
CAIRN_LOAD(__ldg) CAIRN_LOAD(__ldca) CAIRN_LOAD(__ldcg) CAIRN_LOAD(__ldcs) CAIRN_LOAD(__ldcv) CAIRN_LOAD(__ldlu)
CAIRN_STORE(__stcg) CAIRN_STORE(__stcs) CAIRN_STORE(__stwb) CAIRN_STORE(__stwt)
CAIRN_REDUCE(__reduce_min_sync) CAIRN_REDUCE(__reduce_max_sync) CAIRN_REDUCE(__reduce_and_sync) CAIRN_REDUCE(__reduce_or_sync)
CAIRN_REDUCE(__reduce_xor_sync)
#undef CAIRN_LOAD
#undef CAIRN_STORE
#undef CAIRN_REDUCE
using std::isfinite; using std::isinf; using std::isnan; using std::signbit;
#define CAIRN_ATOMIC(name) CAIRN_EACH(CairnT) CairnT name(CairnT *, CairnU) { return {}; } CAIRN_EACH(CairnT) CairnT name##_block(CairnT *, CairnU) { return {}; } CAIRN_EACH(CairnT) CairnT name##_system(CairnT *, CairnU) { return {}; }
CAIRN_ATOMIC(atomicAdd) CAIRN_ATOMIC(atomicSub) CAIRN_ATOMIC(atomicMin) CAIRN_ATOMIC(atomicMax) CAIRN_ATOMIC(atomicAnd)
CAIRN_ATOMIC(atomicOr) CAIRN_ATOMIC(atomicXor) CAIRN_ATOMIC(atomicExch) CAIRN_ATOMIC(atomicInc) CAIRN_ATOMIC(atomicDec)
CAIRN_EACH(CairnT) CairnT atomicCAS(CairnT *, CairnU, CairnV) { return {}; }
CAIRN_BOTH int __popc(unsigned); CAIRN_BOTH int __popcll(unsigned long long); CAIRN_BOTH int __clz(int);
CAIRN_BOTH int __clzll(long long); CAIRN_BOTH int __ffs(int); CAIRN_BOTH int __ffsll(long long);
CAIRN_BOTH unsigned __brev(unsigned); CAIRN_BOTH float __fdividef(float, float); CAIRN_BOTH float rsqrtf(float);
CAIRN_BOTH double rsqrt(double); CAIRN_BOTH float __expf(float); CAIRN_BOTH float __logf(float);
CAIRN_BOTH float __sinf(float); CAIRN_BOTH float __cosf(float); CAIRN_BOTH float __powf(float, float);
CAIRN_BOTH float __fmaf_rn(float, float, float); CAIRN_BOTH float __frsqrt_rn(float); CAIRN_BOTH float __saturatef(float);
CAIRN_BOTH int __float_as_int(float); CAIRN_BOTH float __int_as_float(int); CAIRN_BOTH int __float2int_rn(float);
CAIRN_BOTH unsigned __float_as_uint(float); CAIRN_BOTH float __uint_as_float(unsigned);
CAIRN_BOTH long long __double_as_longlong(double); CAIRN_BOTH double __longlong_as_double(long long);
CAIRN_BOTH int __mul24(int, int); CAIRN_BOTH unsigned __umulhi(unsigned, unsigned);
CAIRN_BOTH int min(int, int); CAIRN_BOTH unsigned min(unsigned, unsigned); CAIRN_BOTH long min(long, long);
CAIRN_BOTH long long min(long long, long long); CAIRN_BOTH float min(float, float); CAIRN_BOTH double min(double, double);
CAIRN_BOTH unsigned long min(unsigned long, unsigned long); CAIRN_BOTH unsigned long max(unsigned long, unsigned long);
CAIRN_BOTH int max(int, int); CAIRN_BOTH unsigned max(unsigned, unsigned); CAIRN_BOTH long max(long, long);
CAIRN_BOTH long long max(long long, long long); CAIRN_BOTH float max(float, float); CAIRN_BOTH double max(double, double);

#ifdef __HIP__
#define CAIRN_API(name) hip##name
#else
#define CAIRN_API(name) cuda##name
#endif
typedef struct CairnStream *CAIRN_API(Stream_t);
typedef struct CairnEvent *CAIRN_API(Event_t);
typedef struct CairnGraph *CAIRN_API(Graph_t);
typedef struct CairnGraphExec *CAIRN_API(GraphExec_t);
enum { CAIRN_API(StreamDefault), CAIRN_API(StreamNonBlocking) };
enum CAIRN_API(StreamCaptureMode) { CAIRN_API(StreamCaptureModeGlobal), CAIRN_API(StreamCaptureModeThreadLocal), CAIRN_API(StreamCaptureModeRelaxed) };
enum CAIRN_API(Error_t) { CAIRN_API(Success), CAIRN_API(ErrorInvalidValue), CAIRN_API(ErrorMemoryAllocation), CAIRN_API(ErrorNotReady) };
enum CAIRN_API(MemcpyKind) {
  CAIRN_API(MemcpyHostToHost), CAIRN_API(MemcpyHostToDevice), CAIRN_API(MemcpyDeviceToHost), CAIRN_API(MemcpyDeviceToDevice),
  CAIRN_API(MemcpyDefault)
};
enum CAIRN_API(FuncAttribute) { CAIRN_API(FuncAttributeMaxDynamicSharedMemorySize), CAIRN_API(FuncAttributePreferredSharedMemoryCarveout) };
enum CAIRN_API(FuncCache) { CAIRN_API(FuncCachePreferNone), CAIRN_API(FuncCachePreferShared), CAIRN_API(FuncCachePreferL1) };
struct CAIRN_API(DeviceProp) {
  char name[256]; size_t totalGlobalMem, sharedMemPerBlock, totalConstMem; int regsPerBlock, warpSize, maxThreadsPerBlock;
  int maxThreadsDim[3], maxGridSize[3], clockRate, memoryClockRate, memoryBusWidth, major, minor, multiProcessorCount;
  int l2CacheSize, maxThreadsPerMultiProcessor, canMapHostMemory, concurrentKernels, ECCEnabled;
};
struct CAIRN_API(FuncAttributes) { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs; };
// With an ellipsis: enumerations without a name cannot be arguments of a template that has no body.
#define CAIRN_CALL CAIRN_API(Error_t)
CAIRN_CALL CAIRN_API(Malloc)(...); CAIRN_CALL CAIRN_API(MallocHost)(...); CAIRN_CALL CAIRN_API(MallocManaged)(...);
CAIRN_CALL CAIRN_API(MallocAsync)(...); CAIRN_CALL CAIRN_API(HostAlloc)(...); CAIRN_CALL CAIRN_API(HostMalloc)(...);
CAIRN_CALL CAIRN_API(MallocPitch)(...);
CAIRN_CALL CAIRN_API(Free)(...); CAIRN_CALL CAIRN_API(FreeHost)(...); CAIRN_CALL CAIRN_API(HostFree)(...);
CAIRN_CALL CAIRN_API(FreeAsync)(...); CAIRN_CALL CAIRN_API(Memcpy)(...); CAIRN_CALL CAIRN_API(MemcpyAsync)(...);
CAIRN_CALL CAIRN_API(Memset)(...); CAIRN_CALL CAIRN_API(MemsetAsync)(...); CAIRN_CALL CAIRN_API(MemGetInfo)(...);
template <class CairnS> CAIRN_API(Error_t) CAIRN_API(MemcpyToSymbol)(const CairnS &, ...);
template <class CairnS> CAIRN_API(Error_t) CAIRN_API(MemcpyFromSymbol)(void *, const CairnS &, ...);
template <class CairnS> CAIRN_API(Error_t) CAIRN_API(GetSymbolAddress)(void **, const CairnS &);
CAIRN_CALL CAIRN_API(MemPrefetchAsync)(...); CAIRN_CALL CAIRN_API(HostGetDevicePointer)(...);
CAIRN_CALL CAIRN_API(HostRegister)(...); CAIRN_CALL CAIRN_API(HostUnregister)(...);
CAIRN_CALL CAIRN_API(DeviceSynchronize)(...); CAIRN_CALL CAIRN_API(ThreadSynchronize)(...);
CAIRN_CALL CAIRN_API(DeviceReset)(...); CAIRN_CALL CAIRN_API(SetDevice)(...); CAIRN_CALL CAIRN_API(GetDevice)(...);
CAIRN_CALL CAIRN_API(GetDeviceCount)(...); CAIRN_CALL CAIRN_API(GetDeviceProperties)(...);
CAIRN_CALL CAIRN_API(DeviceSetLimit)(...); CAIRN_CALL CAIRN_API(DeviceSetCacheConfig)(...);
CAIRN_CALL CAIRN_API(StreamCreate)(...); CAIRN_CALL CAIRN_API(StreamCreateWithFlags)(...);
CAIRN_CALL CAIRN_API(StreamDestroy)(...); CAIRN_CALL CAIRN_API(StreamSynchronize)(...);
CAIRN_CALL CAIRN_API(StreamWaitEvent)(...); CAIRN_CALL CAIRN_API(EventCreate)(...); CAIRN_CALL CAIRN_API(EventDestroy)(...);
CAIRN_CALL CAIRN_API(EventRecord)(...); CAIRN_CALL CAIRN_API(EventSynchronize)(...);
CAIRN_CALL CAIRN_API(StreamBeginCapture)(...); CAIRN_CALL CAIRN_API(StreamEndCapture)(...);
CAIRN_CALL CAIRN_API(GraphInstantiate)(...); CAIRN_CALL CAIRN_API(GraphLaunch)(...);
CAIRN_CALL CAIRN_API(GraphDestroy)(...); CAIRN_CALL CAIRN_API(GraphExecDestroy)(...);
CAIRN_CALL CAIRN_API(EventElapsedTime)(...); CAIRN_CALL CAIRN_API(EventQuery)(...);
template <class CairnF> CAIRN_API(Error_t) CAIRN_API(FuncSetAttribute)(CairnF *, ...);
template <class CairnF> CAIRN_API(Error_t) CAIRN_API(FuncSetCacheConfig)(CairnF *, ...);
template <class CairnF> CAIRN_API(Error_t) CAIRN_API(FuncGetAttributes)(CAIRN_API(FuncAttributes) *, CairnF *);
template <class CairnF> CAIRN_API(Error_t) CAIRN_API(OccupancyMaxActiveBlocksPerMultiprocessor)(int *, CairnF *, ...);
template <class CairnF> CAIRN_API(Error_t) CAIRN_API(OccupancyMaxPotentialBlockSize)(int *, int *, CairnF *, ...);
template <class CairnF> CAIRN_API(Error_t) CAIRN_API(LaunchKernel)(CairnF *, dim3, dim3, void **, size_t = 0, CAIRN_API(Stream_t) = 0);
template <class CairnF> CAIRN_API(Error_t) CAIRN_API(LaunchCooperativeKernel)(CairnF *, dim3, dim3, void **, size_t = 0, CAIRN_API(Stream_t) = 0);
CAIRN_API(Error_t) CAIRN_API(GetLastError)(); CAIRN_API(Error_t) CAIRN_API(PeekAtLastError)();
const char *CAIRN_API(GetErrorString)(CAIRN_API(Error_t)); const char *CAIRN_API(GetErrorName)(CAIRN_API(Error_t));
CAIRN_BOTH int CAIRN_API(ConfigureCall)(dim3, dim3, size_t = 0, CAIRN_API(Stream_t) = 0);
#ifdef __HIP__
extern "C" CAIRN_BOTH unsigned __hipPushCallConfiguration(dim3, dim3, size_t = 0, hipStream_t = 0);
#define hipLaunchKernelGGL(k, g, b, s, t, ...) k<<<(g), (b), (s), (t)>>>(__VA_ARGS__)
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#else
extern "C" CAIRN_BOTH unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
#endif
#undef CAIRN_BOTH
#undef CAIRN_VECTOR
#undef CAIRN_EACH
#undef CAIRN_ATOMIC
#undef CAIRN_API
#undef CAIRN_CALL
)stub";

}  // namespace cairn::instrument
