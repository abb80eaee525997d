// Molecular dynamics in the way of miniMD: Lennard-Jones atoms in a periodic box (reduced units, density 0.8442,
// temperature 1.44, cutoff 2.5, step 0.005), cells to find neighbours, a part of the box for each rank. After every
// step the coordinates of all atoms, in the order of their numbers, go into a record of one PnetCDF variable.
//   md [-o md.nc] [--atoms 4000] [--steps 20] [--soa] [--sync]
// Without --soa: coordinates(step, atom, 3); with it: coordinates(step, 3, atom). Needs parts at least a cutoff wide.
#include <algorithm>
#include <array>
#include <cmath>

#include "example.h"
#include "noise.h"

namespace {

constexpr double kDensity = 0.8442;
constexpr double kTemperature = 1.44;
constexpr double kCutoff = 2.5;
constexpr double kStep = 0.005;
constexpr double kInverse6 = 1 / (kCutoff * kCutoff * kCutoff * kCutoff * kCutoff * kCutoff);
constexpr double kAtCutoff = kInverse6 * (kInverse6 - 1);  // taken off, so that energy is kept when pairs part

using Vector = std::array<double, 3>;

struct Atom {
  Vector x{};
  Vector v{};
  Vector f{};
  MPI_Offset number = 0;
};

/// A rank's part of the box, its atoms, and copies of those within a cutoff around it.
class Part {
 public:
  Part(const World &world, MPI_Offset lattice) : atoms_in_all_(4 * lattice * lattice * lattice) {
    const double constant = std::cbrt(4 / kDensity);
    box_ = constant * static_cast<double>(lattice);
    std::array<int, 3> periods = {1, 1, 1};
    MPI_Dims_create(world.ranks, 3, parts_.data());
    MPI_Cart_create(MPI_COMM_WORLD, 3, parts_.data(), periods.data(), 0, &grid_);
    MPI_Cart_coords(grid_, world.rank, 3, place_.data());
    for (size_t d = 0; d < 3; ++d) {
      MPI_Cart_shift(grid_, static_cast<int>(d), 1, &low_side_[d], &high_side_[d]);
      low_[d] = box_ * place_[d] / parts_[d];
      high_[d] = box_ * (place_[d] + 1) / parts_[d];
      if (high_[d] - low_[d] < kCutoff) fail("too few atoms for this many ranks");
    }
    fill(lattice, constant);
  }
  ~Part() { MPI_Comm_free(&grid_); }
  Part(const Part &) = delete;
  Part &operator=(const Part &) = delete;

  /// One step of velocity Verlet.
  void advance() {
    for (Atom &a : own_) {
      for (size_t d = 0; d < 3; ++d) {
        a.v[d] += kStep / 2 * a.f[d];
        a.x[d] += kStep * a.v[d];
      }
    }
    migrate();
    find_forces();
    for (Atom &a : own_) {
      for (size_t d = 0; d < 3; ++d) a.v[d] += kStep / 2 * a.f[d];
    }
  }

  /// Of all atoms, per atom: kinetic and potential.
  double energy() const {
    double sum = potential_;
    for (const Atom &a : own_) sum += (a.v[0] * a.v[0] + a.v[1] * a.v[1] + a.v[2] * a.v[2]) / 2;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid_);
    return sum / static_cast<double>(atoms_in_all_);
  }

  void find_forces() {
    copy_surroundings();
    sort_into_cells();
    potential_ = 0;
    for (size_t i = 0; i < own_.size(); ++i) force_on(i);
  }

  const std::vector<Atom> &own() const { return own_; }
  MPI_Offset atoms() const { return atoms_in_all_; }
  double box() const { return box_; }

 private:
  /// A face-centred cubic lattice, velocities by number so that they depend on no rank.
  void fill(MPI_Offset lattice, double constant) {
    static constexpr std::array<Vector, 4> kBasis = {{{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}}};
    Vector mean{};
    double square = 0;
    for (MPI_Offset n = 0; n < atoms_in_all_; ++n) {
      const std::array<MPI_Offset, 3> cell = {n / 4 / lattice / lattice, n / 4 / lattice % lattice, n / 4 % lattice};
      Atom a;
      a.number = n;
      bool here = true;
      for (size_t d = 0; d < 3; ++d) {
        a.x[d] = constant * (static_cast<double>(cell[d]) + kBasis[static_cast<size_t>(n % 4)][d] + 0.25);
        a.v[d] = normal(static_cast<uint64_t>(3 * n) + d);
        here = here && a.x[d] >= low_[d] && a.x[d] < high_[d];
        mean[d] += a.v[d] / static_cast<double>(atoms_in_all_);
        square += a.v[d] * a.v[d];
      }
      if (here) own_.push_back(a);
    }
    for (size_t d = 0; d < 3; ++d) square -= mean[d] * mean[d] * static_cast<double>(atoms_in_all_);
    const double scale = std::sqrt(kTemperature * 3 * static_cast<double>(atoms_in_all_ - 1) / square);
    for (Atom &a : own_) {
      for (size_t d = 0; d < 3; ++d) a.v[d] = scale * (a.v[d] - mean[d]);
    }
  }

  /// Sends atoms to one neighbour and appends what comes from the other to `to`.
  void shift(const std::vector<Atom> &atoms, int towards, int from, std::vector<Atom> &to) const {
    int out = static_cast<int>(atoms.size() * sizeof(Atom));
    int in = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, towards, 0, &in, 1, MPI_INT, from, 0, grid_, MPI_STATUS_IGNORE);
    const size_t before = to.size();
    to.resize(before + static_cast<size_t>(in) / sizeof(Atom));
    MPI_Sendrecv(atoms.data(), out, MPI_BYTE, towards, 1, to.data() + before, in, MPI_BYTE, from, 1, grid_,
                 MPI_STATUS_IGNORE);
  }

  /// The atom as the neighbour on that side sees it: what leaves the box comes in on the other side.
  Atom seen(Atom a, size_t d, bool low) const {
    if (low && place_[d] == 0) a.x[d] += box_;
    if (!low && place_[d] == parts_[d] - 1) a.x[d] -= box_;
    return a;
  }

  /// Atoms that left go to the neighbour, one dimension after the other; no atom crosses a part in a step.
  void migrate() {
    for (size_t d = 0; d < 3; ++d) {
      std::vector<Atom> stay;
      std::vector<Atom> down;
      std::vector<Atom> up;
      for (const Atom &a : own_) {
        if (a.x[d] < low_[d]) {
          down.push_back(seen(a, d, true));
        } else if (a.x[d] >= high_[d]) {
          up.push_back(seen(a, d, false));
        } else {
          stay.push_back(a);
        }
      }
      own_.swap(stay);
      shift(down, low_side_[d], high_side_[d], own_);
      shift(up, high_side_[d], low_side_[d], own_);
    }
  }

  /// Own atoms first, then copies of all within a cutoff, those of earlier dimensions included: corners come by
  /// themselves.
  void copy_surroundings() {
    near_ = own_;
    for (size_t d = 0; d < 3; ++d) {
      std::vector<Atom> down;
      std::vector<Atom> up;
      for (const Atom &a : near_) {
        if (a.x[d] < low_[d] + kCutoff) down.push_back(seen(a, d, true));
        if (a.x[d] >= high_[d] - kCutoff) up.push_back(seen(a, d, false));
      }
      shift(down, low_side_[d], high_side_[d], near_);
      shift(up, high_side_[d], low_side_[d], near_);
    }
  }

  std::array<size_t, 3> cell_of(const Vector &x) const {
    std::array<size_t, 3> cell{};
    for (size_t d = 0; d < 3; ++d) {
      const auto at = static_cast<long>((x[d] - low_[d] + kCutoff) / width_[d]);
      cell[d] = static_cast<size_t>(std::clamp(at, 0L, static_cast<long>(cells_[d]) - 1));
    }
    return cell;
  }
  size_t index_of(size_t x, size_t y, size_t z) const { return (x * cells_[1] + y) * cells_[2] + z; }

  void sort_into_cells() {
    for (size_t d = 0; d < 3; ++d) {
      const double extent = high_[d] - low_[d] + 2 * kCutoff;
      cells_[d] = static_cast<size_t>(extent / kCutoff);
      width_[d] = extent / static_cast<double>(cells_[d]);
    }
    first_.assign(cells_[0] * cells_[1] * cells_[2] + 1, 0);
    std::vector<size_t> cell(near_.size());
    for (size_t i = 0; i < near_.size(); ++i) {
      const auto [x, y, z] = cell_of(near_[i].x);
      cell[i] = index_of(x, y, z);
      ++first_[cell[i] + 1];
    }
    for (size_t c = 1; c < first_.size(); ++c) first_[c] += first_[c - 1];
    members_.resize(near_.size());
    std::vector<size_t> next(first_.begin(), first_.end() - 1);
    for (size_t i = 0; i < near_.size(); ++i) members_[next[cell[i]]++] = near_[i].x;
  }

  void force_on(size_t i) {
    Atom &a = own_[i];
    a.f = {};
    const auto [cx, cy, cz] = cell_of(a.x);
    const auto below = [](size_t c) { return c == 0 ? 0 : c - 1; };
    const auto above = [this](size_t c, size_t d) { return std::min(c + 1, cells_[d] - 1); };
    for (size_t x = below(cx); x <= above(cx, 0); ++x) {
      for (size_t y = below(cy); y <= above(cy, 1); ++y) {
        const size_t last = first_[index_of(x, y, above(cz, 2)) + 1];
        for (size_t j = first_[index_of(x, y, below(cz))]; j < last; ++j) {
          Vector away{};
          double square = 0;
          for (size_t d = 0; d < 3; ++d) {
            away[d] = a.x[d] - members_[j][d];
            square += away[d] * away[d];
          }
          if (square >= kCutoff * kCutoff || square == 0) continue;
          const double r2 = 1 / square;
          const double r6 = r2 * r2 * r2;
          potential_ += 2 * (r6 * (r6 - 1) - kAtCutoff);  // half of the pair's: the other atom counts the rest
          const double force = 48 * r6 * (r6 - 0.5) * r2;
          for (size_t d = 0; d < 3; ++d) a.f[d] += force * away[d];
        }
      }
    }
  }

  MPI_Offset atoms_in_all_;
  MPI_Comm grid_ = MPI_COMM_NULL;
  double box_ = 0;
  std::array<int, 3> parts_{};
  std::array<int, 3> place_{};
  std::array<int, 3> low_side_{};
  std::array<int, 3> high_side_{};
  Vector low_{};
  Vector high_{};
  std::vector<Atom> own_;
  std::vector<Atom> near_;
  std::array<size_t, 3> cells_{};
  Vector width_{};
  std::vector<size_t> first_;    // of a cell, in members_
  std::vector<Vector> members_;  // places, cell by cell
  double potential_ = 0;
};

/// The file, and this rank's share of the atoms in it, by number.
class Trajectory {
 public:
  Trajectory(const World &world, const std::string &path, const Part &part, bool soa)
      : ranks_(world.ranks), atoms_(part.atoms()), mine_(share_of(atoms_, world.rank, world.ranks)), soa_(soa) {
    nc(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file_), path.c_str());
    int step = -1;
    int atom = -1;
    int axis = -1;
    nc(ncmpi_def_dim(file_, "step", NC_UNLIMITED, &step), "step");
    nc(ncmpi_def_dim(file_, "atom", atoms_, &atom), "atom");
    nc(ncmpi_def_dim(file_, "axis", 3, &axis), "axis");
    const std::array<int, 3> dims = {step, soa ? axis : atom, soa ? atom : axis};
    nc(ncmpi_def_var(file_, "coordinates", NC_FLOAT, 3, dims.data(), &coordinates_), "coordinates");
    const double box = part.box();
    nc(ncmpi_put_att_double(file_, coordinates_, "box", NC_DOUBLE, 1, &box), "box");
    nc(ncmpi_enddef(file_), "end of definitions");
  }

  /// Brings every atom to the rank that has its number, in the order in which the file has them.
  void collect(const std::vector<Atom> &atoms) {
    struct Sent {
      MPI_Offset number;
      std::array<float, 3> x;
    };
    std::vector<std::vector<Sent>> to(static_cast<size_t>(ranks_));
    for (const Atom &a : atoms) {
      auto owner = static_cast<size_t>(a.number * ranks_ / atoms_);
      while (owner > 0 && a.number < share_of(atoms_, static_cast<int>(owner), ranks_).first) --owner;
      while (owner + 1 < to.size() && a.number >= share_of(atoms_, static_cast<int>(owner) + 1, ranks_).first) ++owner;
      to[owner].push_back(
          {a.number, {static_cast<float>(a.x[0]), static_cast<float>(a.x[1]), static_cast<float>(a.x[2])}});
    }
    std::vector<Sent> out;
    std::vector<int> out_bytes;
    std::vector<int> out_at;
    for (const std::vector<Sent> &atoms_to : to) {
      out_at.push_back(static_cast<int>(out.size() * sizeof(Sent)));
      out_bytes.push_back(static_cast<int>(atoms_to.size() * sizeof(Sent)));
      out.insert(out.end(), atoms_to.begin(), atoms_to.end());
    }
    std::vector<int> in_bytes(to.size());
    MPI_Alltoall(out_bytes.data(), 1, MPI_INT, in_bytes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> in_at(to.size(), 0);
    for (size_t r = 1; r < to.size(); ++r) in_at[r] = in_at[r - 1] + in_bytes[r - 1];
    std::vector<Sent> in(static_cast<size_t>(mine_.count));
    MPI_Alltoallv(out.data(), out_bytes.data(), out_at.data(), MPI_BYTE, in.data(), in_bytes.data(), in_at.data(),
                  MPI_BYTE, MPI_COMM_WORLD);
    values_.resize(3 * in.size());
    for (const Sent &a : in) {
      const auto place = static_cast<size_t>(a.number - mine_.first);
      for (size_t d = 0; d < 3; ++d) values_[soa_ ? d * in.size() + place : 3 * place + d] = a.x[d];
    }
  }

  void write(MPI_Offset step, bool sync) const {
    const std::array<MPI_Offset, 3> start = {step, soa_ ? 0 : mine_.first, soa_ ? mine_.first : 0};
    const std::array<MPI_Offset, 3> count = {1, soa_ ? 3 : mine_.count, soa_ ? mine_.count : 3};
    nc(ncmpi_put_vara_float_all(file_, coordinates_, start.data(), count.data(), values_.data()), "coordinates");
    if (sync) nc(ncmpi_sync(file_), "sync");
  }

  void close() const { nc(ncmpi_close(file_), "close"); }

 private:
  int ranks_;
  MPI_Offset atoms_;
  Share mine_;
  bool soa_;
  int file_ = -1;
  int coordinates_ = -1;
  std::vector<float> values_;
};

}  // namespace

int main(int argc, char **argv) {
  const World world(&argc, &argv);
  Arguments arguments(argc, argv);
  const std::string path = arguments.text("-o", "md.nc");
  const MPI_Offset atoms = arguments.number("--atoms", 4000);
  const MPI_Offset steps = arguments.number("--steps", 20);
  const bool soa = arguments.flag("--soa");
  const bool sync = arguments.flag("--sync");
  arguments.finish(0, 0, "md [-o FILE] [--atoms N] [--steps N] [--soa] [--sync]");
  MPI_Offset lattice = 1;
  while (4 * lattice * lattice * lattice < atoms) ++lattice;

  Part part(world, lattice);
  Clock compute;
  Clock collect;
  Clock output;
  compute.time([&] { part.find_forces(); });
  const double before = part.energy();
  output.time([&] { MPI_Barrier(MPI_COMM_WORLD); });
  Trajectory trajectory(world, path, part, soa);
  for (MPI_Offset step = 0; step < steps; ++step) {
    compute.time([&] { part.advance(); });
    collect.time([&] { trajectory.collect(part.own()); });
    output.time([&] { trajectory.write(step, sync); });
  }
  output.time([&] { trajectory.close(); });
  const double after = part.energy();
  const double computed = compute.max();
  const double collected = collect.max();
  const double written = output.max();
  if (world.rank == 0) {
    std::printf("%lld atoms, %lld steps: energy an atom %.6f before, %.6f after\n", part.atoms(), steps, before, after);
    std::printf("seconds: compute %.3f, collect %.3f, output %.3f\n", computed, collected, written);
  }
  return 0;
}
