// Lennard-Jones atoms, as miniMD and LAMMPS' melt move them: velocity Verlet, a list of neighbours from cells, rebuilt
// every 20 steps.
#include <cmath>
#include <cstring>
#include <random>

#include "array_data.h"

namespace cairn::bench {
namespace {

constexpr int kCells = 32;  // of the lattice, a side; four atoms each
constexpr size_t kAtoms = size_t{4} * kCells * kCells * kCells;
constexpr double kCut = 2.5;
constexpr double kSkin = 0.3;
constexpr double kStep = 0.005;

class Liquid {
 public:
  Liquid() : place_(3 * kAtoms), speed_(3 * kAtoms), force_(3 * kAtoms) {
    const double lattice = std::cbrt(4 / 0.8442);
    side_ = lattice * kCells;
    constexpr double kBasis[4][3] = {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}};
    size_t at = 0;
    for (int z = 0; z < kCells; ++z) {
      for (int y = 0; y < kCells; ++y) {
        for (int x = 0; x < kCells; ++x) {
          for (const auto &basis : kBasis) {
            place_[at++] = lattice * (x + basis[0]);
            place_[at++] = lattice * (y + basis[1]);
            place_[at++] = lattice * (z + basis[2]);
          }
        }
      }
    }
    std::mt19937_64 random(87287);
    std::uniform_real_distribution<double> uniform(-0.5, 0.5);
    double squares = 0;
    for (double &v : speed_) {
      v = uniform(random);
      squares += v * v;
    }
    for (double &v : speed_) v *= std::sqrt(1.44 * 3 * kAtoms / squares);
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i, ++step_) {
      if (step_ % 20 == 0) {
        wrap();
        find_neighbours();
        if (step_ == 0) find_forces();
      }
      for (size_t k = 0; k < place_.size(); ++k) {
        speed_[k] += 0.5 * kStep * force_[k];
        place_[k] += kStep * speed_[k];
      }
      find_forces();
      for (size_t k = 0; k < place_.size(); ++k) speed_[k] += 0.5 * kStep * force_[k];
    }
    wrap();
  }

  [[nodiscard]] Bytes coordinates(bool interleaved) const {
    Bytes bytes(place_.size() * sizeof(float));
    for (size_t i = 0; i < kAtoms; ++i) {
      for (size_t axis = 0; axis < 3; ++axis) {
        const auto value = static_cast<float>(place_[3 * i + axis]);
        memcpy(bytes.data() + 4 * (interleaved ? 3 * i + axis : axis * kAtoms + i), &value, 4);
      }
    }
    return bytes;
  }

 private:
  void wrap() {
    for (double &x : place_) {
      if (x < 0) x += side_;
      if (x >= side_) x -= side_;
    }
  }
  [[nodiscard]] double nearest(double distance) const {
    if (distance > side_ / 2) return distance - side_;
    return distance < -side_ / 2 ? distance + side_ : distance;
  }

  void find_neighbours() {
    const int cells = static_cast<int>(side_ / (kCut + kSkin));
    std::vector<std::vector<uint32_t>> in(static_cast<size_t>(cells) * cells * cells);
    const auto cell_of = [&](double x) { return std::min(static_cast<int>(x / side_ * cells), cells - 1); };
    const auto index = [&](int x, int y, int z) {
      const auto around = [cells](int c) { return (c + cells) % cells; };
      return (static_cast<size_t>(around(z)) * cells + around(y)) * cells + around(x);
    };
    for (uint32_t i = 0; i < kAtoms; ++i)
      in[index(cell_of(place_[3 * i]), cell_of(place_[3 * i + 1]), cell_of(place_[3 * i + 2]))].push_back(i);
    first_.assign(1, 0);
    neighbours_.clear();
    for (uint32_t i = 0; i < kAtoms; ++i) {
      const int x = cell_of(place_[3 * i]);
      const int y = cell_of(place_[3 * i + 1]);
      const int z = cell_of(place_[3 * i + 2]);
      for (int dz = -1; dz <= 1; ++dz) {
        for (int dy = -1; dy <= 1; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) {
            for (const uint32_t j : in[index(x + dx, y + dy, z + dz)]) {
              if (j > i && square(i, j, nullptr) < (kCut + kSkin) * (kCut + kSkin)) neighbours_.push_back(j);
            }
          }
        }
      }
      first_.push_back(neighbours_.size());
    }
  }

  double square(uint32_t i, uint32_t j, double *d) const {
    double sum = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
      const double distance = nearest(place_[3 * i + axis] - place_[3 * j + axis]);
      if (d != nullptr) d[axis] = distance;
      sum += distance * distance;
    }
    return sum;
  }

  void find_forces() {
    std::fill(force_.begin(), force_.end(), 0);
    for (uint32_t i = 0; i < kAtoms; ++i) {
      for (size_t k = first_[i]; k < first_[i + 1]; ++k) {
        const uint32_t j = neighbours_[k];
        double d[3];
        const double r2 = square(i, j, d);
        if (r2 >= kCut * kCut) continue;
        const double i2 = 1 / r2;
        const double i6 = i2 * i2 * i2;
        const double f = 48 * i6 * (i6 - 0.5) * i2;
        for (size_t axis = 0; axis < 3; ++axis) {
          force_[3 * i + axis] += f * d[axis];
          force_[3 * j + axis] -= f * d[axis];
        }
      }
    }
  }

  double side_ = 0;
  int step_ = 0;
  std::vector<double> place_, speed_, force_;
  std::vector<size_t> first_;
  std::vector<uint32_t> neighbours_;
};

}  // namespace

Array atoms(bool interleaved, int earlier) {
  // Moved once for all that ask, since that takes some ten seconds.
  constexpr int kAt = 100;
  static Bytes kept[2][2];  // [earlier][interleaved]
  static int kept_earlier = -1;
  if (kept_earlier != earlier) {
    Liquid liquid;
    if (earlier > 0) {
      liquid.run(earlier);
      for (int i = 0; i < 2; ++i) kept[1][i] = liquid.coordinates(i == 1);
    }
    liquid.run(kAt - earlier);
    for (int i = 0; i < 2; ++i) kept[0][i] = liquid.coordinates(i == 1);
    kept_earlier = earlier;
  }
  const std::vector<uint64_t> shape = interleaved ? std::vector<uint64_t>{kAtoms, 3} : std::vector<uint64_t>{3, kAtoms};
  return {interleaved ? "atoms N x 3" : "atoms 3 x N", codec::Element::f32, shape, kept[0][interleaved],
          earlier > 0 ? kept[1][interleaved] : Bytes{}};
}

}  // namespace cairn::bench
