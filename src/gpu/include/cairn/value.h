// cairn_value(x) is x; where `cairn instrument` finds it in device code, it also becomes a trace point at which every
// lane that is there tells x: a number, an enumerator or a pointer. For CUDA, HIP and plain C++; nothing of Cairn's is
// needed to compile and run what has not been instrumented.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__CUDA__) || defined(__HIP__)
#define CAIRN_VALUE_ANYWHERE __host__ __device__
#else
#define CAIRN_VALUE_ANYWHERE
#endif

template <typename T>
CAIRN_VALUE_ANYWHERE inline T cairn_value(T value) {
  return value;
}
