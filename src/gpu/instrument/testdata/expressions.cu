// Decisions inside expressions, and those that are none.
#include <cuda_runtime.h>

__device__ int side(int x) { return x + 1; }
__device__ int global;
template <class T> struct Small { static constexpr bool value = sizeof(T) < 4; };

template <unsigned kSize, class T>
__global__ void sizes(T *p, T x) {
  const int n = kSize > 4 && sizeof(T) > 2 ? 4 : 2;
  T buffer[n];
  buffer[0] = p ? x : 0;
  p[0] = Small<T>::value ? buffer[0] : x;
  if constexpr (kSize > 8) p[1] = x; else p[1] = 0;
}

__global__ void choose(int *p, const int *q, int n) {
  int a = n > 1 ? p[0] : p[1];
  int b = n > 2 ? n > 3 ? 1 : 2 : n > 4 ? 3 : 4;
  const int *r = n > 5 ? q : 0;
  const int *s = n > 6 ? NULL : q;
  const int *t = n > 7 ? nullptr : q;
  (n > 8 ? a : b) = 3;
  if (a && b) p[0] = 1;
  if (a && p[1]) p[0] = 2;
  if (a || side(b)) p[0] = 3;
  if (a && b && *q || a++) p[0] = 4;
  if (a and global) p[0] = 5;
  if (a && /* here */ (b = n)) p[0] = 6;
  while (a && q[a]) a--;
  p[1] = a && threadIdx.x;
  p[2] = sizeof(n ? a : b) + (r != s) + (t == q);
  static const int fixed = 3 > 2 ? 1 : 2;
  constexpr int known = fixed > 0 ? 3 : 4;
  p[3] = ({ int c = n ? 5 : 6; c; }) + known;
}

int main() {
  int *p = 0;
  sizes<16><<<1, 32>>>(p, 3);
  choose<<<1, 32>>>(p, p, 3);
}
