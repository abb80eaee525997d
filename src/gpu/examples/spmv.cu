// A sparse matrix (of a graph: 1 for each edge) times a vector, a row a thread, as compressed rows are read: what lanes do
// depends on values, which are traced too. Irregular.
//   spmv GRAPH
#include <cuda_runtime.h>

#include <cstdio>

#include "cairn/value.h"
#include "graph.h"

__global__ void multiply(int rows, const int *first, const int *to, const float *x, float *y) {
  const int row = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (row >= rows) return;
  const int end = first[row + 1];
  float sum = 0;
  cairn_value(end - first[row]);
  for (int i = first[row]; i < end; ++i) sum += x[cairn_value(to[i])];
  y[row] = sum;
}

int main(int argc, char **argv) {
  const Graph graph = graph_named(argc > 1 ? argv[1] : "road:100");
  const size_t n = static_cast<size_t>(graph.nodes());
  std::vector<float> host(n);
  for (size_t i = 0; i < n; ++i) host[i] = static_cast<float>(i % 16);
  int *first = nullptr;
  int *to = nullptr;
  float *x = nullptr;
  float *y = nullptr;
  cudaMalloc(&first, (n + 1) * sizeof(int));
  cudaMalloc(&to, (graph.to.size() + 1) * sizeof(int));
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(first, graph.first.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(to, graph.to.data(), graph.to.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  multiply<<<static_cast<unsigned>((n + 255) / 256), 256>>>(graph.nodes(), first, to, x, y);
  std::vector<float> got(n);
  cudaMemcpy(got.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "spmv: %s\n", cudaGetErrorString(error));
    return 1;
  }
  for (size_t v = 0; v < n; ++v) {
    float wanted = 0;
    for (int i = graph.first[v]; i < graph.first[v + 1]; ++i) {
      wanted += host[static_cast<size_t>(graph.to[static_cast<size_t>(i)])];
    }
    if (got[v] != wanted) {
      std::fprintf(stderr, "spmv: row %zu is wrong\n", v);
      return 1;
    }
  }
  std::printf("spmv: %zu rows, %zu entries\n", n, graph.to.size());
  return 0;
}
