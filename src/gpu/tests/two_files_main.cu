// A program of two files, with device code in both that calls and launches the other's: relocatable device code.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <cuda_runtime.h>

#include <cstdio>

__device__ int collatz(int from);              // in the other file
__global__ void sum(const int *steps, int *total);  // in the other file

__device__ int twice(int value) {
  if (value > 10) return 2 * value;
  return value + value;
}

__global__ void steps_of(int *steps) { steps[threadIdx.x] = collatz(static_cast<int>(threadIdx.x) + 1); }

int main() {
  int *steps = nullptr;
  int *total = nullptr;
  cudaMalloc(&steps, 64 * sizeof *steps);
  cudaMalloc(&total, sizeof *total);
  cudaMemset(total, 0, sizeof *total);
  steps_of<<<1, 64>>>(steps);
  sum<<<1, 64>>>(steps, total);
  int result = 0;
  cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(steps);
  cudaFree(total);
  std::printf("%d\n", result);
  return 0;
}
