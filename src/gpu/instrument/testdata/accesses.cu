// Accesses to memory: loads, stores, updates and atomics, and what looks like them.
#include <cuda_runtime.h>

#define FIRST(p) p[0]
#define LENGTH n

struct Body {
  float x, y;
  int flags : 3;
  float &other;
  __device__ float mass() const { return x; }
};

__device__ int table[64];
__constant__ float coefficient[9];

template <class T> __global__ void copy(T *to, const T *from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
  T &same = to[i];
  const T *next = &from[i + 1];
  same = *next;
}

template <int kWidth> __device__ float by_tile(float (*tile)[kWidth], const float *from, const int *index, float *to) {
  tile[index[0]][1] = from[2];
  const auto sum = tile[1][2] + from[3] + (float)from[4] + max(tile[0][0], from[5]);
  float *const place = &tile[1][1];
  to[0] = *place > from[6] ? tile[2][2] : sum;
  return tile[3][index[1]];
}

__device__ void exchange(float &a, float &b) { const float c = a; a = b; b = c; }
__device__ float first_of(const float (&row)[8]) { return row[0]; }

__global__ void k(float *a, float **rows, const int *index, Body *bodies, float4 *wide, float (*matrix)[8], int n) {
  __shared__ float tile[32][33];
  __shared__ int counts[4];
  float own[4] = {0, 1, 2, 3};
  float4 local = wide[0];
  const int t = threadIdx.x;
  tile[t][0] = a[index[t]];
  rows[t][1] += tile[0][t] * coefficient[t % 9] + own[t % 4];
  bodies[t].x = bodies->y + (*bodies).y + bodies[t].mass() + bodies->other;
  bodies[t].flags = 1;
  *a = **rows;
  a[t]++;
  --table[t];
  wide[t + 1] = local;
  wide[t].x *= local.w;
  own[1] = by_tile(tile, a, index, *rows);
  matrix[t][2] = first_of(matrix[t]) + (*(matrix + 1))[3];
  float *p = &a[t];
  exchange(a[t], p[1]);
  atomicAdd(&table[t], 1);
  atomicMax(counts + t % 4, *index);
  a[t] = __ldg(a + index[t]) > 0 ? a[0] : wide[t].w;
  if (a[t] > 0 && rows[0][0] < 1) return;
  float &r = a[3];
  r = sizeof(a[0]);
  a[n] = FIRST(a) + a[LENGTH];
  for (float *at = a; *at != 0; ++at) (void)*at;
}

int main() {
  copy<<<1, 32>>>((float4 *)nullptr, (float4 *)nullptr, 3);
  k<<<1, 32>>>(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 3);
}
