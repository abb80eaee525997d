// Writes what the analyses at and matt read: temperatures in Kelvin on a sphere, as the Global Cloud-Resolving Model
// keeps them, in floats over (time, cell, layer), time unlimited. The cells are those of ten rhombi of an icosahedron
// with
// --edge cells a side, ten times edge² together (the model's two poles are left out); ranks have contiguous shares of
// them.
//   atmosphere [-o atmosphere.nc] [--edge 48] [--layers 26] [--times 8] [--noise 0.5]
#include <array>
#include <cmath>
#include <optional>

#ifndef CLIMATE  // a benchmark has another
#define CLIMATE "climate.h"
#endif
#include CLIMATE
#include "noise.h"

namespace {

using Point = std::array<double, 3>;

/// The icosahedron's corners: north pole, five in the north, five in the south, south pole.
Point corner(int index) {
  if (index == 0) return {0, 0, 1};
  if (index == 11) return {0, 0, -1};
  const double latitude = (index < 6 ? 1 : -1) * std::atan(0.5);
  const double longitude = 2 * M_PI / 5 * ((index - 1) % 5 + (index < 6 ? 0.0 : 0.5));
  return {std::cos(latitude) * std::cos(longitude), std::cos(latitude) * std::sin(longitude), std::sin(latitude)};
}

/// The cell's place on the unit sphere. A rhombus is two triangles of corners: low, right, left, high.
Point place_of(MPI_Offset cell, MPI_Offset edge) {
  const int rhombus = static_cast<int>(cell / (edge * edge));
  const int k = rhombus % 5;
  const std::array<int, 4> corners = rhombus < 5 ? std::array<int, 4>{6 + k, 1 + (k + 1) % 5, 1 + k, 0}
                                                 : std::array<int, 4>{11, 6 + (k + 1) % 5, 6 + k, 1 + (k + 1) % 5};
  const double u = (static_cast<double>(cell % edge) + 0.5) / static_cast<double>(edge);
  const double v = (static_cast<double>(cell / edge % edge) + 0.5) / static_cast<double>(edge);
  const std::array<double, 4> weights =
      u + v < 1 ? std::array<double, 4>{1 - u - v, u, v, 0} : std::array<double, 4>{0, 1 - v, 1 - u, u + v - 1};
  Point sum{};
  for (size_t c = 0; c < 4; ++c) {
    const Point p = corner(corners[c]);
    for (size_t d = 0; d < 3; ++d) sum[d] += weights[c] * p[d];
  }
  const double length = std::sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
  for (double &x : sum) x /= length;
  return sum;
}

/// Eight waves of different length and speed over a mean that falls towards the poles.
double surface(const Point &p, double time) {
  static constexpr std::array<Point, 8> kWaves = {
      {{1, 2, 0}, {3, 0, 1}, {0, 4, 2}, {5, 1, 3}, {2, 6, 1}, {7, 3, 0}, {4, 4, 6}, {9, 2, 5}}};
  double kelvin = 288 - 40 * p[2] * p[2];
  for (size_t k = 0; k < kWaves.size(); ++k) {
    const double turn = kWaves[k][0] * p[0] + kWaves[k][1] * p[1] + kWaves[k][2] * p[2];
    kelvin += 4 * std::sin(turn + (0.05 + 0.03 * static_cast<double>(k)) * time) / static_cast<double>(k + 1);
  }
  return kelvin;
}

void write_places(ClimateOutput &file, const std::vector<Point> &places, const Share &mine, MPI_Offset layers) {
  std::vector<float> latitudes;
  std::vector<float> longitudes;
  for (const Point &p : places) {
    latitudes.push_back(static_cast<float>(std::asin(p[2]) * 180 / M_PI));
    longitudes.push_back(static_cast<float>(std::atan2(p[1], p[0]) * 180 / M_PI));
  }
  std::vector<float> heights;
  for (MPI_Offset z = 0; z < layers; ++z) heights.push_back(60 * static_cast<float>(z) / static_cast<float>(layers));
  file.places(mine, latitudes, longitudes, heights);
}

}  // namespace

int main(int argc, char **argv) {
  const World world(&argc, &argv);
  Arguments arguments(argc, argv);
  const std::string path = arguments.text("-o", "atmosphere.nc");
  const MPI_Offset edge = arguments.number("--edge", 48);
  const MPI_Offset layers = arguments.number("--layers", 26);
  const MPI_Offset times = arguments.number("--times", 8);
  const double noise = arguments.real("--noise", 0.5);
  arguments.finish(0, 0, "atmosphere [-o FILE] [--edge N] [--layers N] [--times N] [--noise K]");

  const MPI_Offset cells = 10 * edge * edge;
  const Share mine = share_of(cells, world.rank, world.ranks);
  std::vector<Point> places;
  for (MPI_Offset c = 0; c < mine.count; ++c) places.push_back(place_of(mine.first + c, edge));
  Clock compute;
  Clock output;
  std::optional<ClimateOutput> file;
  output.time([&] {
    file.emplace(path, times, cells, layers, world.ranks);
    write_places(*file, places, mine, layers);
  });
  std::vector<float> temperatures(static_cast<size_t>(mine.count * layers));
  for (MPI_Offset t = 0; t < times; ++t) {
    compute.time([&] {
      size_t at = 0;
      for (MPI_Offset c = 0; c < mine.count; ++c) {
        const double kelvin = surface(places[static_cast<size_t>(c)], static_cast<double>(t));
        for (MPI_Offset z = 0; z < layers; ++z) {
          const auto place = static_cast<uint64_t>((t * cells + mine.first + c) * layers + z);
          const double fall = 60 * static_cast<double>(z) / static_cast<double>(layers);
          temperatures[at++] = static_cast<float>(kelvin - fall + noise * normal(place));
        }
      }
    });
    output.time([&] { file->step(t, mine, temperatures); });
  }
  output.time([&] { file->close(); });
  const double computed = compute.max();
  const double written = output.max();
  if (world.rank == 0) {
    std::printf("%lld times, %lld cells, %lld layers: %lld bytes of temperatures\n", times, cells, layers,
                times * cells * layers * 4);
    std::printf("seconds: compute %.3f, output %.3f\n", computed, written);
  }
  return 0;
}
