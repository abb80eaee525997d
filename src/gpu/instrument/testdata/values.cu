// Values that lanes are to tell.
#include <cuda_runtime.h>

#include "include/cairn/value.h"

#define BOUND(v) first[cairn_value(v)]

template <class A, class B> struct Pair { A a; B b; };
template <class A, class B> __device__ int sum(Pair<A, B> p) { return static_cast<int>(p.a + p.b); }

__device__ int degree(const int *first, int v) { return cairn_value(first[v + 1] - first[v]); }

__global__ void rows(const int *first, const int *to, float *out, int n) {
  const int v = threadIdx.x;
  if (v >= cairn_value(n)) return;
  float total = 0;
  for (int i = first[v]; i < first[v] + degree(first, v); ++i) {
    cairn_value(to + i);
    total += cairn_value(to[i] > v ? 1.0f : cairn_value(2.0f));
  }
  total += cairn_value<int>(sum<int, char>({1, 'a'})) + BOUND(0);
  out[v] = v > 1 && cairn_value(total) > 0 ? total : 0;
}

int main() {
  const int n = cairn_value(3);
  rows<<<1, 32>>>(nullptr, nullptr, nullptr, n);
}
