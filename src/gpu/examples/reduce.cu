// Reduce: the sum of an array in three ways, with what programs use between threads: dynamic shared memory and barriers,
// on two streams at once; tiles of a warp and the lanes that are together (cooperative groups); and one kernel whose
// blocks wait for each other. Blocks have two dimensions.
//   reduce NUMBERS
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

/// The sum of numbers[begin, end) that a thread takes, `threads` apart.
template <typename T>
__device__ T own_sum(const T *numbers, int begin, int end, int threads) {
  T sum = 0;
  for (int i = begin; i < end; i += threads) sum += numbers[i];
  return sum;
}

/// Halves a block's sums in shared memory.
template <typename T>
__global__ void halving(const T *numbers, int count, unsigned long long *total) {
  extern __shared__ unsigned long long sums[];
  const cg::thread_block block = cg::this_thread_block();
  const int rank = static_cast<int>(block.thread_rank());
  const int size = static_cast<int>(block.size());
  sums[rank] = own_sum(numbers, static_cast<int>(blockIdx.x) * size + rank, count, static_cast<int>(gridDim.x) * size);
  block.sync();
  for (int half = size / 2; half > 0; half /= 2) {
    if (rank < half) sums[rank] += sums[rank + half];
    block.sync();
  }
  if (rank == 0) atomicAdd(total, sums[0]);
}

/// Sums in tiles of 16 lanes; of the lanes that have any, one adds for all.
__global__ void tiles(const unsigned *numbers, int count, unsigned long long *total) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  const int at = static_cast<int>(blockIdx.x * block.size() + block.thread_rank());
  unsigned sum = at < count ? numbers[at] : 0;
  for (unsigned by = tile.size() / 2; by > 0; by /= 2) sum += tile.shfl_down(sum, by);
  if (tile.thread_rank() == 0 && sum != 0) {
    const cg::coalesced_group together = cg::coalesced_threads();
    unsigned all = 0;
    for (unsigned rank = 0; rank < together.size(); ++rank) all += together.shfl(sum, static_cast<int>(rank));
    if (together.thread_rank() == 0) atomicAdd(total, static_cast<unsigned long long>(all));
  }
}

/// Every block writes its sum; when all have, the first block adds them up.
__global__ void whole_grid(const unsigned *numbers, int count, unsigned long long *of_blocks, unsigned long long *total) {
  __shared__ unsigned long long sum;
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0) sum = 0;
  block.sync();
  const unsigned long long own = own_sum(numbers, static_cast<int>(grid.thread_rank()), count, static_cast<int>(grid.size()));
  atomicAdd(&sum, own);
  block.sync();
  if (block.thread_rank() == 0) of_blocks[blockIdx.x] = sum;
  grid.sync();
  if (blockIdx.x != 0 || block.thread_rank() != 0) return;
  for (unsigned i = 0; i < gridDim.x; ++i) *total += of_blocks[i];
}

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 20000;
  if (count < 1 || count > 100'000'000) {
    std::fprintf(stderr, "usage: reduce [NUMBERS]: 1 to 100000000\n");
    return 2;
  }
  std::vector<unsigned> start(static_cast<size_t>(count));
  unsigned long long wanted = 0;
  for (size_t i = 0; i < start.size(); ++i) {
    start[i] = static_cast<unsigned>(i * 2654435761u) >> 24;
    wanted += start[i];
  }
  int devices = 0;
  cudaGetDeviceCount(&devices);
  int wrong = 0;
  for (int device = 0; device < devices; ++device) {
    cudaSetDevice(device);
    unsigned *numbers = nullptr;
    unsigned long long *totals = nullptr;
    unsigned long long *of_blocks = nullptr;
    constexpr unsigned kBlocks = 4;
    cudaMalloc(&numbers, start.size() * sizeof *numbers);
    cudaMalloc(&totals, 4 * sizeof *totals);
    cudaMalloc(&of_blocks, kBlocks * sizeof *of_blocks);
    cudaMemcpy(numbers, start.data(), start.size() * sizeof *numbers, cudaMemcpyHostToDevice);
    cudaMemset(totals, 0, 4 * sizeof *totals);
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams) cudaStreamCreate(&stream);
    const dim3 block(16, 8);
    for (int i = 0; i < 2; ++i) {
      halving<<<kBlocks, block, 128 * sizeof(unsigned long long), streams[i]>>>(numbers, count, totals + i);
    }
    tiles<<<static_cast<unsigned>((count + 127) / 128), block, 0, streams[1]>>>(numbers, count, totals + 2);
    unsigned long long *total = totals + 3;
    void *arguments[] = {&numbers, &count, &of_blocks, &total};
    cudaLaunchCooperativeKernel(whole_grid, dim3(kBlocks), block, arguments, size_t{0}, streams[0]);
    for (cudaStream_t stream : streams) {
      cudaStreamSynchronize(stream);
      cudaStreamDestroy(stream);
    }
    unsigned long long sums[4];
    cudaMemcpy(sums, totals, sizeof sums, cudaMemcpyDeviceToHost);
    for (const unsigned long long sum : sums) wrong += sum == wanted ? 0 : 1;
    cudaFree(numbers);
    cudaFree(totals);
    cudaFree(of_blocks);
  }
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "reduce: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("reduce %d: %llu%s\n", count, wanted, wrong == 0 ? "" : ", and something else");
  return wrong == 0 ? 0 : 1;
}
