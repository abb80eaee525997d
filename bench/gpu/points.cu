// What a trace point costs: kernels that do little but pass points, and many launches. Times are the least of five, in
// milliseconds of the GPU; compile with -DCAIRN_GPU_OFF for the kernels without points.
#include <cuda_runtime.h>

#include <cstdio>

#include "cairn/gpu.h"

namespace {

const cairn::gpu::Program &program() {
  using cairn::gpu::Kind;
  static const cairn::gpu::Location locations[] = {{1, Kind::entry, "kernel", "points.cu", 1},
                                                   {2, Kind::loop, "kernel", "points.cu", 2},
                                                   {3, Kind::then, "kernel", "points.cu", 3}};
  static const char *const kernels[] = {"uniform", "diverging"};
  static const uint16_t successors[] = {0, 1, 1, 2, 2, 2, 2, 3, 3, 2, 0, 0};
  static const cairn::gpu::Program made = {"points.cu", 1, locations, 3, kernels, 2, successors};
  return made;
}

/// All lanes go together; `Work` dependent operations between two points.
template <int Work>
__global__ void uniform(int turns, float *to, cairn::gpu::Trace trace) {
  CAIRN_KERNEL(trace);
  CAIRN_POINT(1);
  float sum = threadIdx.x;
  for (int i = 0; i < turns; ++i) {
    CAIRN_POINT(2);
#pragma unroll
    for (int w = 0; w < Work; ++w) sum = sum * 0.5f + 1.0f;
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Half of the lanes, others each time, pass a second point.
__global__ void diverging(int turns, float *to, cairn::gpu::Trace trace) {
  CAIRN_KERNEL(trace);
  CAIRN_POINT(1);
  unsigned draw = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
  float sum = 0;
  for (int i = 0; i < turns; ++i) {
    CAIRN_POINT(2);
    draw = draw * 1664525u + 1013904223u;
    if (draw >> 31 != 0) {
      CAIRN_POINT(3);
      sum = sum * 0.5f + draw;
    }
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <typename Work>
float least_ms(const Work &work) {
  cudaEvent_t begin;
  cudaEvent_t end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float least = 1e30f;
  for (int i = 0; i < 6; ++i) {
    float ms = 0;
    cudaEventRecord(begin);
    work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    cudaDeviceSynchronize();
    if (i != 0 && ms < least) least = ms;
  }
  return least;
}

double free_mb() {
  size_t left = 0;
  size_t all = 0;
  cudaMemGetInfo(&left, &all);
  return static_cast<double>(left) / 1048576;
}

}  // namespace

int main() {
  constexpr unsigned kThreads = 256;
  constexpr int kTurns = 1000;
  float *to = nullptr;
  cudaMalloc(&to, size_t{132} * 64 * kThreads * sizeof *to);
  const double at_first = free_mb();
  const cudaStream_t stream = nullptr;
  // A GPU that was idle runs slowly at first.
  for (int i = 0; i < 200; ++i) uniform<128><<<1056, kThreads>>>(kTurns, to, cairn::gpu::Trace());
  cudaDeviceSynchronize();
  for (const unsigned blocks : {132u, 132u * 8}) {
    const auto tell = [blocks](const char *what, float ms) { std::printf("%s_%u %.4f\n", what, blocks, ms); };
    tell("uniform1", least_ms([&] {
           uniform<1><<<blocks, kThreads>>>(kTurns, to, CAIRN_LAUNCH(program(), 0, blocks, kThreads, stream));
         }));
    tell("uniform16", least_ms([&] {
           uniform<16><<<blocks, kThreads>>>(kTurns, to, CAIRN_LAUNCH(program(), 0, blocks, kThreads, stream));
         }));
    tell("uniform128", least_ms([&] {
           uniform<128><<<blocks, kThreads>>>(kTurns, to, CAIRN_LAUNCH(program(), 0, blocks, kThreads, stream));
         }));
    tell("diverging", least_ms([&] {
           diverging<<<blocks, kThreads>>>(kTurns / 5, to, CAIRN_LAUNCH(program(), 1, blocks, kThreads, stream));
         }));
  }
  constexpr int kInFlight = 60;
  std::printf("in_flight_%d %.4f\n", kInFlight, least_ms([&] {
                for (int i = 0; i < kInFlight; ++i) {
                  uniform<1><<<8, 128>>>(1, to, CAIRN_LAUNCH(program(), 0, 8, 128, stream));
                }
              }));
  // Each has more to write than any before.
  for (unsigned blocks = 1; blocks <= 64; ++blocks) {
    uniform<1><<<blocks, 128>>>(1, to, CAIRN_LAUNCH(program(), 0, blocks, 128, stream));
    cudaDeviceSynchronize();
  }
  std::printf("device_mb %.0f\n", at_first - free_mb());
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "points: %s\n", cudaGetErrorString(error));
    return 1;
  }
  return 0;
}
