#include <cuda_runtime.h>

__device__ int twice(int value);  // in the other file

__device__ int collatz(int from) {
  int steps = 0;
  while (from != 1) {
    from = from % 2 == 0 ? from / 2 : 3 * from + 1;
    ++steps;
  }
  return steps;
}

__global__ void sum(const int *steps, int *total) {
  if (steps[threadIdx.x] % 2 == 0) atomicAdd(total, twice(steps[threadIdx.x]));
}
