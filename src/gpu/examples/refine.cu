// Mesh refinement with the cavities of Delaunay mesh refinement (Chew 1993): a triangle with a small angle is bad; the
// triangles around it whose circumcircles hold the centre of its own are its cavity, which is emptied and filled again
// around that centre. Cavities that overlap are for the triangle with the lowest number; the others try again in the
// next round. Very irregular.
//   refine SIDE [ROUNDS]      a jittered grid of SIDE x SIDE points
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMostCavity = 24;
constexpr int kMostBorder = kMostCavity + 2;
constexpr int kNobody = 0x7fffffff;

/// Corners counter-clockwise; next[i] is behind the side from corner i to corner i + 1, -1 at the border.
struct Triangle {
  int corner[3];
  int next[3];
};

struct Mesh {
  double2 *points;
  Triangle *triangles;
  int *owner;  ///< of a triangle in this round
  int *point_count;
  int *triangle_count;
  int most_points;
  int most_triangles;
};

/// What a bad triangle wants to do.
struct Plan {
  double2 centre;
  int cavity_count;  ///< 0: nothing
  int border_count;
  int cavity[kMostCavity];
  int from[kMostBorder];  ///< sides around the cavity
  int to[kMostBorder];
  int outside[kMostBorder];
};

__device__ __host__ inline double turn(double2 a, double2 b, double2 c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

__device__ __host__ inline double square(double2 a, double2 b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

/// An angle below 30 degrees, and a side worth splitting.
__device__ __host__ inline bool is_bad(double2 a, double2 b, double2 c, double least) {
  const double sides[3] = {square(b, c), square(c, a), square(a, b)};
  double longest = 0;
  bool small = false;
  for (int i = 0; i < 3; ++i) {
    const double p = sides[(i + 1) % 3];
    const double q = sides[(i + 2) % 3];
    const double cosine = (p + q - sides[i]) / (2 * sqrt(p * q));
    if (cosine > 0.8660254) small = true;
    if (sides[i] > longest) longest = sides[i];
  }
  return small && longest > least;
}

__device__ inline bool centre_of(double2 a, double2 b, double2 c, double2 *out) {
  const double twice = 2 * turn(a, b, c);
  if (twice < 1e-18) return false;
  const double bx = b.x - a.x;
  const double by = b.y - a.y;
  const double cx = c.x - a.x;
  const double cy = c.y - a.y;
  out->x = a.x + (cy * (bx * bx + by * by) - by * (cx * cx + cy * cy)) / twice;
  out->y = a.y + (bx * (cx * cx + cy * cy) - cx * (bx * bx + by * by)) / twice;
  return true;
}

__device__ inline bool circle_holds(double2 a, double2 b, double2 c, double2 point) {
  double2 centre;
  return centre_of(a, b, c, &centre) && square(centre, point) < square(centre, a) * (1 - 1e-12);
}

__device__ inline int place_in(const int *list, int count, int wanted) {
  for (int i = 0; i < count; ++i) {
    if (list[i] == wanted) return i;
  }
  return -1;
}

/// Finds the cavity of each bad triangle and claims it.
__global__ void plan(Mesh mesh, double least, Plan *plans, int count) {
  const int own = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (own >= count) return;
  Plan &mine = plans[own];
  mine.cavity_count = 0;
  mine.border_count = 0;
  const Triangle start = mesh.triangles[own];
  const double2 a = mesh.points[start.corner[0]];
  const double2 b = mesh.points[start.corner[1]];
  const double2 c = mesh.points[start.corner[2]];
  if (!is_bad(a, b, c, least) || !centre_of(a, b, c, &mine.centre)) return;
  int cavity = 1;
  mine.cavity[0] = own;
  for (int at = 0; at < cavity; ++at) {
    const Triangle here = mesh.triangles[mine.cavity[at]];
    for (int side = 0; side < 3; ++side) {
      const int other = here.next[side];
      if (other >= 0 && place_in(mine.cavity, cavity, other) >= 0) continue;
      bool inside = false;
      if (other >= 0) {
        const Triangle &next = mesh.triangles[other];
        inside = circle_holds(mesh.points[next.corner[0]], mesh.points[next.corner[1]], mesh.points[next.corner[2]],
                              mine.centre);
      }
      if (!inside) continue;
      if (cavity == kMostCavity) return;
      mine.cavity[cavity++] = other;
    }
  }
  int border = 0;
  for (int at = 0; at < cavity; ++at) {
    const Triangle here = mesh.triangles[mine.cavity[at]];
    for (int side = 0; side < 3; ++side) {
      const int other = here.next[side];
      if (other >= 0 && place_in(mine.cavity, cavity, other) >= 0) continue;
      const int from = here.corner[side];
      const int to = here.corner[(side + 1) % 3];
      // The centre must see every side from within: else it lies outside the mesh, or the cavity is no star.
      if (border == kMostBorder || turn(mesh.points[from], mesh.points[to], mine.centre) <= 1e-14) return;
      mine.from[border] = from;
      mine.to[border] = to;
      mine.outside[border++] = other;
    }
  }
  if (border != cavity + 2) return;  // not one ring
  mine.cavity_count = cavity;
  mine.border_count = border;
  for (int i = 0; i < cavity; ++i) atomicMin(&mesh.owner[mine.cavity[i]], own);
  for (int i = 0; i < border; ++i) {
    if (mine.outside[i] >= 0) atomicMin(&mesh.owner[mine.outside[i]], own);
  }
}

/// Fills the cavities that nobody with a lower number wanted.
__global__ void fill(Mesh mesh, const Plan *plans, int count, int *filled) {
  const int own = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (own >= count) return;
  const Plan &mine = plans[own];
  if (mine.cavity_count == 0) return;
  for (int i = 0; i < mine.cavity_count; ++i) {
    if (mesh.owner[mine.cavity[i]] != own) return;
  }
  for (int i = 0; i < mine.border_count; ++i) {
    if (mine.outside[i] >= 0 && mesh.owner[mine.outside[i]] != own) return;
  }
  const int point = atomicAdd(mesh.point_count, 1);
  const int fresh = atomicAdd(mesh.triangle_count, 2);
  if (point >= mesh.most_points || fresh + 2 > mesh.most_triangles) {
    atomicSub(mesh.point_count, 1);
    atomicSub(mesh.triangle_count, 2);
    return;
  }
  mesh.points[point] = mine.centre;
  const auto slot = [&](int i) { return i < mine.cavity_count ? mine.cavity[i] : fresh + i - mine.cavity_count; };
  for (int i = 0; i < mine.border_count; ++i) {
    Triangle made;
    made.corner[0] = mine.from[i];
    made.corner[1] = mine.to[i];
    made.corner[2] = point;
    made.next[0] = mine.outside[i];
    made.next[1] = slot(place_in(mine.from, mine.border_count, mine.to[i]));
    made.next[2] = slot(place_in(mine.to, mine.border_count, mine.from[i]));
    mesh.triangles[slot(i)] = made;
    if (mine.outside[i] < 0) continue;
    Triangle &other = mesh.triangles[mine.outside[i]];
    for (int side = 0; side < 3; ++side) {
      if (other.corner[side] == mine.to[i] && other.corner[(side + 1) % 3] == mine.from[i]) other.next[side] = slot(i);
    }
  }
  atomicAdd(filled, 1);
}

__global__ void forget(int *owner, int count) {
  const int own = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (own < count) owner[own] = kNobody;
}

namespace {

void jittered_grid(int side, std::vector<double2> *points, std::vector<Triangle> *triangles) {
  unsigned long long seed = 11;
  const auto draw = [&] {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(seed >> 40) / static_cast<double>(1 << 24) - 0.5;
  };
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const bool border = x == 0 || y == 0 || x + 1 == side || y + 1 == side;
      points->push_back({x + (border ? 0 : 0.45 * draw()), y + (border ? 0 : 0.45 * draw())});
    }
  }
  // Two triangles a cell: 2 * cell is below its diagonal, 2 * cell + 1 above.
  const int cells = side - 1;
  const auto cell = [&](int x, int y) { return x < 0 || y < 0 || x >= cells || y >= cells ? -1 : 2 * (y * cells + x); };
  const auto above = [&](int at) { return at < 0 ? -1 : at + 1; };
  for (int y = 0; y < cells; ++y) {
    for (int x = 0; x < cells; ++x) {
      const int a = y * side + x;
      triangles->push_back(
          {{a, a + 1, a + side + 1},
           {above(cell(x, y - 1)), cell(x + 1, y) < 0 ? -1 : above(cell(x + 1, y)), above(cell(x, y))}});
      triangles->push_back(
          {{a, a + side + 1, a + side}, {cell(x, y), cell(x, y + 1), cell(x - 1, y) < 0 ? -1 : cell(x - 1, y)}});
    }
  }
}

template <typename T>
T *on_device(const std::vector<T> &host, size_t room) {
  T *device = nullptr;
  cudaMalloc(&device, room * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

}  // namespace

int main(int argc, char **argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 40;
  const int most_rounds = argc > 2 ? std::atoi(argv[2]) : 20;
  if (side < 2 || side > 4000 || most_rounds < 0) {
    std::fprintf(stderr, "usage: refine [SIDE [ROUNDS]]: 2 to 4000, 0 and more\n");
    return 2;
  }
  const double least = 0.09;
  std::vector<double2> points;
  std::vector<Triangle> triangles;
  jittered_grid(side, &points, &triangles);
  Mesh mesh;
  mesh.most_points = static_cast<int>(points.size()) * 6;
  mesh.most_triangles = static_cast<int>(triangles.size()) * 6 + 64;
  mesh.points = on_device(points, static_cast<size_t>(mesh.most_points));
  mesh.triangles = on_device(triangles, static_cast<size_t>(mesh.most_triangles));
  mesh.owner = on_device(std::vector<int>(), static_cast<size_t>(mesh.most_triangles));
  mesh.point_count = on_device(std::vector<int>{static_cast<int>(points.size())}, 1);
  mesh.triangle_count = on_device(std::vector<int>{static_cast<int>(triangles.size())}, 1);
  Plan *plans = on_device(std::vector<Plan>(), static_cast<size_t>(mesh.most_triangles));
  int *filled = on_device(std::vector<int>{0}, 1);
  int rounds = 0;
  int count = static_cast<int>(triangles.size());
  for (int more = 1; more != 0 && rounds < most_rounds; ++rounds) {
    cudaMemset(filled, 0, sizeof(int));
    const unsigned blocks = static_cast<unsigned>((count + 127) / 128);
    forget<<<blocks, 128>>>(mesh.owner, count);
    plan<<<blocks, 128>>>(mesh, least, plans, count);
    fill<<<blocks, 128>>>(mesh, plans, count, filled);
    cudaMemcpy(&more, filled, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(&count, mesh.triangle_count, sizeof(int), cudaMemcpyDeviceToHost);
  }
  int point_count = 0;
  cudaMemcpy(&point_count, mesh.point_count, sizeof(int), cudaMemcpyDeviceToHost);
  points.resize(static_cast<size_t>(point_count));
  triangles.resize(static_cast<size_t>(count));
  cudaMemcpy(points.data(), mesh.points, points.size() * sizeof(double2), cudaMemcpyDeviceToHost);
  cudaMemcpy(triangles.data(), mesh.triangles, triangles.size() * sizeof(Triangle), cudaMemcpyDeviceToHost);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "refine: %s\n", cudaGetErrorString(error));
    return 1;
  }
  double area = 0;
  int bad = 0;
  for (size_t i = 0; i < triangles.size(); ++i) {
    const Triangle &each = triangles[i];
    double2 at[3];
    for (int k = 0; k < 3; ++k) at[k] = points[static_cast<size_t>(each.corner[k])];
    const double twice = turn(at[0], at[1], at[2]);
    area += twice / 2;
    bad += is_bad(at[0], at[1], at[2], least) ? 1 : 0;
    bool sound = twice > 0;
    for (int k = 0; k < 3; ++k) {
      if (each.next[k] < 0) continue;
      const Triangle &other = triangles[static_cast<size_t>(each.next[k])];
      bool tied = false;
      for (int m = 0; m < 3; ++m) {
        tied = tied || (other.next[m] == static_cast<int>(i) && other.corner[m] == each.corner[(k + 1) % 3]);
      }
      sound = sound && tied;
    }
    if (!sound) {
      std::fprintf(stderr, "refine: triangle %zu is turned over or does not fit its neighbours\n", i);
      return 1;
    }
  }
  if (std::fabs(area - (side - 1.0) * (side - 1.0)) > 1e-6 * area) {
    std::fprintf(stderr, "refine: the mesh has an area of %.9f, not %d\n", area, (side - 1) * (side - 1));
    return 1;
  }
  std::printf("refine: %d points, %d triangles, %d bad, %d rounds\n", point_count, count, bad, rounds);
  return 0;
}
