// Graphs for the examples: ECL's binary CSR, and generators. Host only.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// An undirected graph: the neighbours of `v` are to[first[v]] … to[first[v + 1] - 1]; every edge stands at both ends.
struct Graph {
  std::vector<int> first{0};
  std::vector<int> to;
  std::vector<int> weight;  ///< an edge; the same at both ends
  [[nodiscard]] int nodes() const { return static_cast<int>(first.size()) - 1; }
};

namespace graph_detail {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
  uint32_t operator()(uint32_t below) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>((state_ >> 33) % below);
  }

 private:
  uint64_t state_;
};

inline Graph from_edges(int nodes, std::vector<std::pair<int, int>> edges) {
  std::vector<std::vector<int>> near(static_cast<size_t>(nodes));
  std::set<std::pair<int, int>> seen;
  for (auto [a, b] : edges) {
    if (a == b) continue;
    if (a > b) std::swap(a, b);
    if (!seen.emplace(a, b).second) continue;
    near[static_cast<size_t>(a)].push_back(b);
    near[static_cast<size_t>(b)].push_back(a);
  }
  Graph graph;
  for (const auto &list : near) {
    graph.to.insert(graph.to.end(), list.begin(), list.end());
    graph.first.push_back(static_cast<int>(graph.to.size()));
  }
  return graph;
}

}  // namespace graph_detail

/// Streets: a grid of `side` × `side` crossings, of which some streets are missing and some are diagonal.
inline Graph road_graph(int side) {
  graph_detail::Random random(3);
  std::vector<std::pair<int, int>> edges;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const int here = y * side + x;
      if (x + 1 < side && random(100) < 85) edges.emplace_back(here, here + 1);
      if (y + 1 < side && random(100) < 85) edges.emplace_back(here, here + side);
      if (x + 1 < side && y + 1 < side && random(100) < 5) edges.emplace_back(here, here + side + 1);
    }
  }
  return graph_detail::from_edges(side * side, std::move(edges));
}

/// A few nodes have most of the edges: each new node ties itself to ends of edges that are there (Barabási–Albert).
inline Graph power_law_graph(int nodes, int degree) {
  graph_detail::Random random(5);
  std::vector<std::pair<int, int>> edges;
  std::vector<int> ends{0};
  for (int v = 1; v < nodes; ++v) {
    for (int i = 0; i < degree; ++i) {
      const int other = ends[random(static_cast<uint32_t>(ends.size()))];
      edges.emplace_back(v, other);
      ends.push_back(other);
      ends.push_back(v);
    }
  }
  return graph_detail::from_edges(nodes, std::move(edges));
}

/// R-MAT (Chakrabarti, Zhan, Faloutsos 2004) with 2^scale nodes, a = 0.45, b = c = 0.22.
inline Graph rmat_graph(int scale, int edges_per_node) {
  graph_detail::Random random(9);
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < edges_per_node << scale; ++i) {
    int a = 0;
    int b = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const uint32_t draw = random(100);
      a = 2 * a + (draw >= 67 ? 1 : 0);
      b = 2 * b + ((draw >= 45 && draw < 67) || draw >= 89 ? 1 : 0);
    }
    edges.emplace_back(a, b);
  }
  return graph_detail::from_edges(1 << scale, std::move(edges));
}

/// int32 nodes, int32 edges, nodes + 1 offsets, edges ends; little-endian. Ends the program where it can't be read.
inline Graph read_ecl_graph(const char *path) {
  const auto fail = [&](const char *why) {
    std::fprintf(stderr, "%s: %s\n", path, why);
    std::exit(1);
  };
  std::FILE *file = std::fopen(path, "rb");
  if (file == nullptr) fail(std::strerror(errno));
  Graph graph;
  int32_t sizes[2] = {0, 0};
  if (std::fread(sizes, sizeof(int32_t), 2, file) != 2 || sizes[0] < 0 || sizes[1] < 0) fail("not a graph of ECL's");
  graph.first.resize(static_cast<size_t>(sizes[0]) + 1);
  graph.to.resize(static_cast<size_t>(sizes[1]));
  if (std::fread(graph.first.data(), sizeof(int32_t), graph.first.size(), file) != graph.first.size() ||
      std::fread(graph.to.data(), sizeof(int32_t), graph.to.size(), file) != graph.to.size()) {
    fail("the graph is cut short");
  }
  std::fclose(file);
  for (size_t v = 0; v + 1 < graph.first.size(); ++v) {
    if (graph.first[v] < 0 || graph.first[v] > graph.first[v + 1] || graph.first[v + 1] > sizes[1])
      fail("offsets that are none");
  }
  for (const int end : graph.to) {
    if (end < 0 || end >= sizes[0]) fail("an edge to no node");
  }
  return graph;
}

/// "road:SIDE", "power:NODES:DEGREE", "rmat:SCALE:DEGREE", or a file of ECL's. With weights that depend on the ends
/// only.
inline Graph graph_named(const std::string &name) {
  int a = 0;
  int b = 0;
  Graph graph;
  if (std::sscanf(name.c_str(), "road:%d", &a) == 1 && a > 0) {
    graph = road_graph(a);
  } else if (std::sscanf(name.c_str(), "power:%d:%d", &a, &b) == 2 && a > 0 && b > 0) {
    graph = power_law_graph(a, b);
  } else if (std::sscanf(name.c_str(), "rmat:%d:%d", &a, &b) == 2 && a > 0 && a < 28 && b > 0) {
    graph = rmat_graph(a, b);
  } else {
    graph = read_ecl_graph(name.c_str());
  }
  for (int v = 0; v < graph.nodes(); ++v) {
    for (int i = graph.first[static_cast<size_t>(v)]; i < graph.first[static_cast<size_t>(v) + 1]; ++i) {
      const uint32_t low =
          static_cast<uint32_t>(v < graph.to[static_cast<size_t>(i)] ? v : graph.to[static_cast<size_t>(i)]);
      const uint32_t high = static_cast<uint32_t>(v) + static_cast<uint32_t>(graph.to[static_cast<size_t>(i)]) - low;
      graph.weight.push_back(static_cast<int>((low * 2654435761u ^ high * 40503u) % 100'000 + 1));
    }
  }
  return graph;
}
