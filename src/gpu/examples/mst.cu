// Minimum Spanning Tree (Boruvka 1926): in each round every tree finds its lightest edge to another tree, trees join
// along these, and every node learns its new tree. Irregular.
//   mst GRAPH
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "graph.h"

using Key = unsigned long long;  // rank of the edge's weight, and where the edge stands; the lightest is the least
constexpr Key kNone = ~0ull;

__global__ void find_lightest(int nodes, const int *first, const int *to, const int *rank, const int *tree,
                              Key *lightest) {
  const int v = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (v >= nodes) return;
  const int own = tree[v];
  Key best = kNone;
  for (int i = first[v]; i < first[v + 1]; ++i) {
    if (tree[to[i]] == own) continue;
    const Key key = static_cast<Key>(rank[i]) << 32 | static_cast<unsigned>(i);
    if (key < best) best = key;
  }
  if (best != kNone) atomicMin(&lightest[own], best);
}

__global__ void join(int nodes, const int *to, const int *tree, const Key *lightest, int *next, Key *chosen,
                     int *joined) {
  const int v = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (v >= nodes) return;
  next[v] = tree[v];
  if (tree[v] != v || lightest[v] == kNone) return;
  const int other = tree[to[static_cast<int>(lightest[v] & 0xffffffff)]];
  // Two trees may choose the same edge: then the lower one stays, and the edge counts once.
  const bool same = lightest[other] >> 32 == lightest[v] >> 32;
  if (same && v < other) return;
  next[v] = other;
  chosen[v] = lightest[v];
  atomicAdd(joined, 1);
}

__global__ void follow(int nodes, const int *next, int *tree) {
  const int v = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (v >= nodes) return;
  int at = next[v];
  while (next[at] != at) at = next[at];
  tree[v] = at;
}

__global__ void clear(int nodes, Key *lightest, Key *chosen) {
  const int v = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (v < nodes) lightest[v] = chosen[v] = kNone;
}

namespace {

/// Equal weights get different ranks, the same at both ends.
std::vector<int> ranks_of(const Graph &graph) {
  struct Edge {
    int weight, low, high;
    size_t at;
  };
  std::vector<Edge> edges;
  for (int v = 0; v < graph.nodes(); ++v) {
    for (int i = graph.first[static_cast<size_t>(v)]; i < graph.first[static_cast<size_t>(v) + 1]; ++i) {
      const size_t at = static_cast<size_t>(i);
      edges.push_back({graph.weight[at], std::min(v, graph.to[at]), std::max(v, graph.to[at]), at});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) {
    return a.weight != b.weight ? a.weight < b.weight : a.low != b.low ? a.low < b.low : a.high < b.high;
  });
  std::vector<int> ranks(edges.size());
  int rank = -1;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (i == 0 || edges[i].low != edges[i - 1].low || edges[i].high != edges[i - 1].high) ++rank;
    ranks[edges[i].at] = rank;
  }
  return ranks;
}

int root_of(std::vector<int> &parent, int v) {
  while (parent[static_cast<size_t>(v)] != v)
    v = parent[static_cast<size_t>(v)] = parent[static_cast<size_t>(parent[static_cast<size_t>(v)])];
  return v;
}

/// What the trees weigh together, by Kruskal's algorithm.
unsigned long long expected(const Graph &graph, const std::vector<int> &ranks) {
  std::vector<std::pair<int, std::pair<int, int>>> edges;
  for (int v = 0; v < graph.nodes(); ++v) {
    for (int i = graph.first[static_cast<size_t>(v)]; i < graph.first[static_cast<size_t>(v) + 1]; ++i) {
      edges.push_back({ranks[static_cast<size_t>(i)], {v, i}});
    }
  }
  std::sort(edges.begin(), edges.end());
  std::vector<int> parent(static_cast<size_t>(graph.nodes()));
  std::iota(parent.begin(), parent.end(), 0);
  unsigned long long sum = 0;
  for (const auto &[rank, edge] : edges) {
    const int a = root_of(parent, edge.first);
    const int b = root_of(parent, graph.to[static_cast<size_t>(edge.second)]);
    if (a == b) continue;
    parent[static_cast<size_t>(a)] = b;
    sum += static_cast<unsigned long long>(graph.weight[static_cast<size_t>(edge.second)]);
  }
  return sum;
}

template <typename T>
T *on_device(const std::vector<T> &host) {
  T *device = nullptr;
  cudaMalloc(&device, (host.size() + 1) * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

}  // namespace

int main(int argc, char **argv) {
  const Graph graph = graph_named(argc > 1 ? argv[1] : "rmat:10:8");
  const int n = graph.nodes();
  const std::vector<int> ranks = ranks_of(graph);
  std::vector<int> self(static_cast<size_t>(n));
  std::iota(self.begin(), self.end(), 0);
  int *first = on_device(graph.first);
  int *to = on_device(graph.to);
  int *rank = on_device(ranks);
  int *tree = on_device(self);
  int *next = on_device(self);
  int *joined = on_device(std::vector<int>(1));
  Key *lightest = on_device(std::vector<Key>(self.size()));
  Key *chosen = on_device(std::vector<Key>(self.size()));
  const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
  unsigned long long sum = 0;
  int rounds = 0;
  for (int more = 1; more != 0; ++rounds) {
    cudaMemset(joined, 0, sizeof(int));
    clear<<<blocks, 256>>>(n, lightest, chosen);
    find_lightest<<<blocks, 256>>>(n, first, to, rank, tree, lightest);
    join<<<blocks, 256>>>(n, to, tree, lightest, next, chosen, joined);
    follow<<<blocks, 256>>>(n, next, tree);
    cudaMemcpy(&more, joined, sizeof(int), cudaMemcpyDeviceToHost);
    std::vector<Key> edges(self.size());
    cudaMemcpy(edges.data(), chosen, edges.size() * sizeof(Key), cudaMemcpyDeviceToHost);
    for (const Key key : edges) {
      if (key != kNone) sum += static_cast<unsigned long long>(graph.weight[key & 0xffffffff]);
    }
  }
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "mst: %s\n", cudaGetErrorString(error));
    return 1;
  }
  if (sum != expected(graph, ranks)) {
    std::fprintf(stderr, "mst: the trees weigh %llu, not %llu\n", sum, expected(graph, ranks));
    return 1;
  }
  std::printf("mst: %llu, %d rounds\n", sum, rounds);
  return 0;
}
