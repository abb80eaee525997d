// What the parser is given beside CUDA's own headers: declarations that nvcc has and Clang, which brings device
// functions of its own, has not. Clang 14 is older than what it reads, and of functions that are both the host's and
// the device's it has the device's alone: a host function that says `max(c, 3)` found none. Declarations suffice:
// nothing is compiled. Where a later Clang has one of these too, both are templates or functions that agree.
#include "gpu/instrument/parse.h"

namespace cairn::instrument {

// The first is what Clang 14 launches through where it does not know CUDA's version; CUDA has dropped it.
const char *const kPrelude = R"prelude(#include <assert.h>
#include <cmath>
#if CUDART_VERSION > 10000
extern "C" cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
#endif
#ifndef __noinline__
#define __noinline__
#endif
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#endif
// Loads and stores with a hint for the caches: of numbers, of vectors; 16-bit numbers have theirs in their headers.
#define CAIRN_LOAD(CairnName) template <class CairnT> __device__ CairnT CairnName(const CairnT *);
#define CAIRN_STORE(CairnName) template <class CairnT> __device__ void CairnName(CairnT *, CairnT);
CAIRN_LOAD(__ldca) CAIRN_LOAD(__ldcg) CAIRN_LOAD(__ldcs) CAIRN_LOAD(__ldcv) CAIRN_LOAD(__ldlu)
CAIRN_STORE(__stcg) CAIRN_STORE(__stcs) CAIRN_STORE(__stwb) CAIRN_STORE(__stwt)
#define CAIRN_REDUCE(CairnName, CairnT) __device__ CairnT CairnName(unsigned, CairnT);
CAIRN_REDUCE(__reduce_add_sync, unsigned) CAIRN_REDUCE(__reduce_min_sync, unsigned) CAIRN_REDUCE(__reduce_max_sync, unsigned)
CAIRN_REDUCE(__reduce_add_sync, int) CAIRN_REDUCE(__reduce_min_sync, int) CAIRN_REDUCE(__reduce_max_sync, int)
CAIRN_REDUCE(__reduce_and_sync, unsigned) CAIRN_REDUCE(__reduce_or_sync, unsigned) CAIRN_REDUCE(__reduce_xor_sync, unsigned)
// What hosts have as well.
#define CAIRN_PAIR(CairnR, CairnA, CairnB) __host__ CairnR min(CairnA, CairnB); __host__ CairnR max(CairnA, CairnB);
#define CAIRN_BOTH(CairnT, CairnU) CAIRN_PAIR(CairnU, CairnT, CairnU) CAIRN_PAIR(CairnU, CairnU, CairnT) CAIRN_PAIR(CairnU, CairnU, CairnU)
CAIRN_PAIR(int, int, int) CAIRN_BOTH(int, unsigned) CAIRN_PAIR(long, long, long) CAIRN_BOTH(long, unsigned long)
CAIRN_PAIR(long long, long long, long long) CAIRN_BOTH(long long, unsigned long long)
CAIRN_PAIR(float, float, float) CAIRN_BOTH(float, double)
__host__ unsigned umin(unsigned, unsigned); __host__ unsigned umax(unsigned, unsigned);
__host__ long long llmin(long long, long long); __host__ long long llmax(long long, long long);
using std::isfinite; using std::isinf; using std::isnan; using std::signbit;
template <class CairnT, class... CairnRest> __host__ __device__ void __nv_tex_surf_handler(const char *, CairnT *, CairnRest...);
#undef CAIRN_LOAD
#undef CAIRN_STORE
#undef CAIRN_REDUCE
#undef CAIRN_PAIR
#undef CAIRN_BOTH
)prelude";

}  // namespace cairn::instrument
