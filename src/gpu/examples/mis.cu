// Maximal Independent Set (Luby 1986): every node draws a number; in each round a node whose number is lower than those
// of all undecided neighbours is in the set, and its neighbours are out. Irregular.
//   mis GRAPH
#include <cuda_runtime.h>

#include <cstdio>

#include "graph.h"

enum : unsigned char { kUndecided = 0, kIn = 1, kOut = 2 };

__device__ unsigned hash(unsigned value) {
  value = (value >> 16 ^ value) * 0x45d9f3bu;
  value = (value >> 16 ^ value) * 0x45d9f3bu;
  return value >> 16 ^ value;
}

__device__ bool before(int a, int b) {
  const unsigned x = hash(static_cast<unsigned>(a));
  const unsigned y = hash(static_cast<unsigned>(b));
  return x < y || (x == y && a < b);
}

__global__ void choose(int nodes, const int *first, const int *to, volatile unsigned char *state, int *again) {
  for (int v = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x); v < nodes;
       v += static_cast<int>(gridDim.x * blockDim.x)) {
    if (state[v] != kUndecided) continue;
    int i = first[v];
    while (i < first[v + 1] && (state[to[i]] == kOut || before(v, to[i]))) ++i;
    if (i < first[v + 1]) {
      *again = 1;
    } else {
      for (int j = first[v]; j < first[v + 1]; ++j) state[to[j]] = kOut;
      state[v] = kIn;
    }
  }
}

int main(int argc, char **argv) {
  const Graph graph = graph_named(argc > 1 ? argv[1] : "road:100");
  const size_t n = static_cast<size_t>(graph.nodes());
  int *first = nullptr;
  int *to = nullptr;
  unsigned char *state = nullptr;
  int *again = nullptr;
  cudaMalloc(&first, (n + 1) * sizeof(int));
  cudaMalloc(&to, (graph.to.size() + 1) * sizeof(int));
  cudaMalloc(&state, n);
  cudaMalloc(&again, sizeof(int));
  cudaMemcpy(first, graph.first.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(to, graph.to.data(), graph.to.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(state, kUndecided, n);
  const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
  int rounds = 0;
  for (int more = 1; more != 0; ++rounds) {
    cudaMemset(again, 0, sizeof(int));
    choose<<<blocks, 256>>>(graph.nodes(), first, to, state, again);
    cudaMemcpy(&more, again, sizeof(int), cudaMemcpyDeviceToHost);
  }
  std::vector<unsigned char> host(n);
  cudaMemcpy(host.data(), state, n, cudaMemcpyDeviceToHost);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "mis: %s\n", cudaGetErrorString(error));
    return 1;
  }
  size_t in = 0;
  for (size_t v = 0; v < n; ++v) {
    bool covered = host[v] == kIn;
    in += covered ? 1 : 0;
    for (int i = graph.first[v]; i < graph.first[v + 1]; ++i) {
      const bool other = host[static_cast<size_t>(graph.to[static_cast<size_t>(i)])] == kIn;
      if (host[v] == kIn && other) {
        std::fprintf(stderr, "mis: two neighbours are in the set\n");
        return 1;
      }
      covered = covered || other;
    }
    if (!covered) {
      std::fprintf(stderr, "mis: a node has no neighbour in the set\n");
      return 1;
    }
  }
  std::printf("mis: %zu of %zu nodes, %d rounds\n", in, n, rounds);
  return 0;
}
