// A matrix transposed in three ways, as every CUDA course has it: straight through memory, by way of a tile in shared
// memory whose columns all lie in one bank, and by way of a tile with a column to spare. What a warp's lanes touch
// together is what differs (cairn instrument --accesses, cairn gpu accesses).
//   transpose [SIDE]                      a multiple of 32
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kTile = 32;
constexpr int kRows = 8;  // of threads in a block

__global__ void straight(const float *from, float *to, int side) {
  const int x = static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kTile + static_cast<int>(threadIdx.y);
  for (int i = 0; i < kTile; i += kRows) to[x * side + y + i] = from[(y + i) * side + x];
}

template <int kWidth>
__device__ void by_tile(float (*tile)[kWidth], const float *from, float *to, int side) {
  const int lane = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(threadIdx.y);
  const int left = static_cast<int>(blockIdx.x) * kTile;
  const int top = static_cast<int>(blockIdx.y) * kTile;
  for (int i = row; i < kTile; i += kRows) tile[i][lane] = from[(top + i) * side + left + lane];
  __syncthreads();
  for (int i = row; i < kTile; i += kRows) to[(left + i) * side + top + lane] = tile[lane][i];
}

__global__ void tiled(const float *from, float *to, int side) {
  __shared__ float tile[kTile][kTile];
  by_tile(tile, from, to, side);
}

__global__ void padded(const float *from, float *to, int side) {
  __shared__ float tile[kTile][kTile + 1];
  by_tile(tile, from, to, side);
}

int main(int argc, char **argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 64;
  if (side <= 0 || side % kTile != 0) {
    std::fprintf(stderr, "transpose: the side is a multiple of %d\n", kTile);
    return 2;
  }
  const size_t n = static_cast<size_t>(side) * static_cast<size_t>(side);
  std::vector<float> host(n);
  for (size_t i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  float *from = nullptr;
  float *to = nullptr;
  cudaMalloc(&from, n * sizeof(float));
  cudaMalloc(&to, n * sizeof(float));
  cudaMemcpy(from, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  const dim3 grid(static_cast<unsigned>(side / kTile), static_cast<unsigned>(side / kTile));
  const dim3 block(kTile, kRows);
  for (int way = 0; way < 3; ++way) {
    cudaMemset(to, 0, n * sizeof(float));
    if (way == 0) {
      straight<<<grid, block>>>(from, to, side);
    } else if (way == 1) {
      tiled<<<grid, block>>>(from, to, side);
    } else {
      padded<<<grid, block>>>(from, to, side);
    }
    std::vector<float> got(n);
    cudaMemcpy(got.data(), to, n * sizeof(float), cudaMemcpyDeviceToHost);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
      std::fprintf(stderr, "transpose: %s\n", cudaGetErrorString(error));
      return 1;
    }
    for (size_t i = 0; i < n; ++i) {
      const size_t row = i / static_cast<size_t>(side);
      const size_t column = i % static_cast<size_t>(side);
      if (got[column * static_cast<size_t>(side) + row] != host[i]) {
        std::fprintf(stderr, "transpose: way %d, element %zu is wrong\n", way, i);
        return 1;
      }
    }
  }
  std::printf("transpose: %d x %d\n", side, side);
  return 0;
}
