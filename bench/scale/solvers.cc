// Programs shaped like NAS CG, MG and LU, and the butterfly.
#include <algorithm>
#include <bit>

#include "scale/patterns.h"

namespace cairn::scale {
namespace {

struct Partners {
  Atom to;
  Atom from;
};

void exchange(Script &s, Script::Place place, const Data &in, const Data &out, const Partners &with, Atom tag) {
  const Handle request = s.irecv(place, in, with.from, tag);
  s.send(place + 1, out, with.to, tag);
  s.wait(place + 2, request);
}

// --- CG
// ---------------------------------------------------------------------------------------------------------------

enum class Diagonal : uint8_t { exchanges, skips_transpose, skips_all };

/// With whom a rank of a row reduces in round k: XOR where that works out, else round about.
Partners in_row(const Grid::Offset &at, uint32_t columns, uint32_t round) {
  const auto column = static_cast<uint32_t>(at[1]);
  const Atom row = at[0] * columns;
  const uint32_t step = 1U << round;
  if (std::has_single_bit(columns)) return {row + (column ^ step), row + (column ^ step)};
  return {row + (column + step) % columns, row + (column + columns - step % columns) % columns};
}

/// To the rank that holds the transposed block, and from the one whose transposed block this is. The grid is square, or
/// twice as wide as high, as NAS CG wants it, or anything.
Partners transposed(uint32_t rank, const Grid &grid) {
  const uint32_t rows = grid.side(0);
  const uint32_t columns = grid.side(1);
  if (columns == 2 * rows) {
    const uint32_t half = rank / 2;
    const Atom other = 2 * ((half % rows) * rows + half / rows) + rank % 2;
    return {other, other};
  }
  return {static_cast<Atom>(rank % columns) * rows + rank / columns,
          static_cast<Atom>(rank % rows) * columns + rank / rows};
}

void cg(Script &s, const Setting &setting, Diagonal diagonal) {
  // At least as wide as high.
  const auto [low, high] = std::minmax({setting.grid.side(0), setting.grid.side(1)});
  const Grid grid({low, high});
  const Grid::Offset at = grid.coordinates(s.rank());
  const auto rounds = static_cast<uint32_t>(std::bit_width(grid.side(1) - 1));
  const Partners transpose = transposed(s.rank(), grid);
  const bool on_diagonal = transpose.to == s.rank();
  const auto sum_in_row = [&](Script::Place place, const Buffer &from, const Buffer &to, Atom count) {
    for (uint32_t k = 0; k < rounds; ++k) {
      exchange(s, place, {to, count}, {from, count}, in_row(at, grid.side(1), k), 1 + Atom{k});
    }
  };
  s.init(1);
  s.bcast(4, {global(0), 1, kInt});
  s.loop(setting.steps, [&] {
    sum_in_row(10, stack(16), stack(8), 1);
    s.loop(25, [&] {
      if (diagonal == Diagonal::skips_all && on_diagonal) return;
      sum_in_row(20, s.heap(1), s.heap(2), 350);
      if (diagonal == Diagonal::exchanges || !on_diagonal) {
        exchange(s, 30, {s.heap(2), 350}, {s.heap(1), 350}, transpose, 1);
      }
      sum_in_row(40, stack(16), stack(8), 1);
    });
    s.allreduce(50, stack(24), {stack(16)});
  });
  s.reduce(51, stack(32), {stack(24)}, kMax);
  s.finalize(52);
}

// --- butterfly
// --------------------------------------------------------------------------------------------------------

void butterfly(Script &s, const Setting &setting, bool skip) {
  const uint32_t ranks = setting.ranks;
  s.init(1);
  s.loop(setting.steps, [&] {
    for (uint32_t step = 1; step < ranks; step *= 2) {
      const uint32_t partner = s.rank() ^ step;
      if (skip && partner >= ranks) continue;
      const Atom peer = partner < ranks ? Atom{partner} : kProcNull;
      s.sendrecv(10, {s.heap(1), 1024}, peer, {s.heap(2), 1024}, peer, 7);
    }
  });
  s.finalize(11);
}

// --- multigrid
// --------------------------------------------------------------------------------------------------------

/// A V-cycle: each level has half the processes of the one before in every dimension, those whose coordinates are
/// multiples of 2^level; the others wait for the correction.
class Cycle {
 public:
  Cycle(Script *script, const Grid &grid, bool periodic)
      : s_(*script), grid_(grid), at_(grid.coordinates(script->rank())), periodic_(periodic) {
    uint32_t longest = 1;
    for (uint32_t d = 0; d < grid.dimensions(); ++d) longest = std::max(longest, grid.side(d));
    levels_ = static_cast<uint32_t>(std::bit_width(longest - 1)) + 1;
  }

  void run() {
    uint32_t level = 0;
    for (; level + 1 < levels_; ++level) {
      if (!active(level)) break;
      faces(level, 20);
      restrict_from(level);
    }
    if (level + 1 == levels_ && active(level)) faces(level, 40);
    while (level-- > 0) {
      prolong_to(level);
      faces(level, 60);
    }
  }

 private:
  [[nodiscard]] bool active(uint32_t level) const { return rank_at(level, at_) == s_.rank(); }
  /// The process of that level whose block holds `at`.
  [[nodiscard]] uint32_t rank_at(uint32_t level, Grid::Offset at) const {
    for (uint32_t d = 0; d < grid_.dimensions(); ++d) at[d] = (at[d] >> level) << level;
    return grid_.rank(at);
  }

  /// The six faces, axis by axis; the array shrinks with the level.
  void faces(uint32_t level, Script::Place place) {
    const Atom count = std::max<Atom>(1, Atom{4096} >> (2 * std::min(level, 6U)));
    for (uint32_t d = 0; d < grid_.dimensions(); ++d) {
      const Atom up = next(level, d, 1);
      const Atom down = next(level, d, -1);
      const Handle low = s_.irecv(place, {s_.heap(1), count}, down, 10 + Atom{d});
      const Handle high = s_.irecv(place + 1, {s_.heap(2), count}, up, 20 + Atom{d});
      s_.send(place + 2, {s_.heap(3), count}, up, 10 + Atom{d});
      s_.send(place + 3, {s_.heap(4), count}, down, 20 + Atom{d});
      s_.wait(place + 4, low);
      s_.wait(place + 5, high);
    }
  }

  [[nodiscard]] Atom next(uint32_t level, uint32_t dimension, int64_t direction) const {
    const int64_t side = grid_.side(dimension);
    const int64_t stride = int64_t{1} << level;
    const int64_t last = (side - 1) / stride * stride;
    Grid::Offset at = at_;
    at[dimension] += direction * stride;
    if (at[dimension] < 0 || at[dimension] > last) {
      if (!periodic_) return kProcNull;
      at[dimension] = direction > 0 ? 0 : last;
    }
    return grid_.rank(at);
  }

  /// Those that drop out hand their block to the one that goes on for them.
  void restrict_from(uint32_t level) {
    if (!active(level + 1)) {
      s_.send(80, {s_.heap(5), 512}, rank_at(level + 1, at_), 30);
      return;
    }
    for_each_given_up(level, [&](uint32_t rank) { s_.recv(81, {s_.heap(5), 512}, rank, 30); });
  }
  void prolong_to(uint32_t level) {
    if (!active(level + 1)) {
      s_.recv(82, {s_.heap(5), 512}, rank_at(level + 1, at_), 31);
      return;
    }
    for_each_given_up(level, [&](uint32_t rank) { s_.send(83, {s_.heap(5), 512}, rank, 31); });
  }
  template <typename Visit>
  void for_each_given_up(uint32_t level, const Visit &visit) const {
    const int64_t stride = int64_t{1} << level;
    for (uint32_t corner = 1; corner < 1U << grid_.dimensions(); ++corner) {
      Grid::Offset at = at_;
      bool inside = true;
      for (uint32_t d = 0; d < grid_.dimensions(); ++d) {
        if ((corner >> d & 1) != 0) at[d] += stride;
        inside = inside && at[d] < grid_.side(d);
      }
      if (inside) visit(grid_.rank(at));
    }
  }

  Script &s_;
  const Grid &grid_;
  Grid::Offset at_;
  bool periodic_;
  uint32_t levels_ = 1;
};

void vcycle(Script &s, const Setting &setting, bool periodic) {
  s.init(1);
  s.bcast(4, {stack(8), 3, kInt});
  Cycle cycle(&s, setting.grid, periodic);
  s.loop(setting.steps, [&] {
    cycle.run();
    s.allreduce(90, stack(24), {stack(16)});
  });
  s.finalize(91);
}

// --- wavefront
// --------------------------------------------------------------------------------------------------------

/// LU's sweeps: every plane waits for the north and the west, then lets the south and the east go on; and back.
void wavefront(Script &s, const Setting &setting, bool skip) {
  constexpr uint64_t kPlanes = 30;
  const auto neighbour = [&](int64_t row, int64_t column) {
    return setting.grid.neighbour(s.rank(), {row, column, 0}, false);
  };
  const Atom north = neighbour(-1, 0);
  const Atom south = neighbour(1, 0);
  const Atom west = neighbour(0, -1);
  const Atom east = neighbour(0, 1);
  const auto there = [skip](Atom peer) { return !skip || peer != kProcNull; };
  const auto sweep = [&](Script::Place place, const Partners &first, const Partners &second, Atom tag) {
    s.loop(kPlanes, [&] {
      if (there(first.from)) s.recv(place, {s.heap(1), 10}, first.from, tag);
      if (there(second.from)) s.recv(place + 1, {s.heap(1, 40), 10}, second.from, tag + 1);
      if (there(first.to)) s.send(place + 2, {s.heap(2), 10}, first.to, tag);
      if (there(second.to)) s.send(place + 3, {s.heap(2, 40), 10}, second.to, tag + 1);
    });
  };
  const auto faces = [&](Script::Place place, const Partners &with, Atom tag) {
    Handle request;
    if (there(with.from)) request = s.irecv(place, {s.heap(1), 360}, with.from, tag);
    if (there(with.to)) s.send(place + 1, {s.heap(2), 360}, with.to, tag);
    if (there(with.from)) s.wait(place + 2, request);
  };
  s.init(1);
  for (Atom k = 0; k < 8; ++k) s.bcast(4, {global(8 * k), 1, kInt});
  s.loop(setting.steps, [&] {
    sweep(10, {south, north}, {east, west}, 1);
    sweep(20, {north, south}, {west, east}, 3);
    faces(30, {south, north}, 5);
    faces(30, {north, south}, 6);
    faces(40, {east, west}, 7);
    faces(40, {west, east}, 8);
  });
  s.allreduce(50, global(128), {stack(-912), 5});
  s.finalize(51);
}

}  // namespace

void add_solvers(std::vector<Pattern> *to) {
  const auto with = [](auto run, auto how) {
    return [run, how](Script &script, const Setting &setting) { run(script, setting, how); };
  };
  to->push_back({"cg", "row-wise reductions and the transposed exchange, the diagonal's with itself", 2,
                 with(cg, Diagonal::exchanges)});
  to->push_back({"cg-skip-transpose", "the same, the diagonal leaves the transposed exchange out", 2,
                 with(cg, Diagonal::skips_transpose)});
  to->push_back({"cg-skip-all", "the same, the diagonal leaves everything out (and would hang)", 2,
                 with(cg, Diagonal::skips_all)});
  to->push_back({"butterfly", "partners rank XOR 2^k, MPI_PROC_NULL where there is none", 0, with(butterfly, false)});
  to->push_back({"butterfly-skip", "the same, nothing is called where there is no partner", 0, with(butterfly, true)});
  to->push_back({"vcycle", "multigrid, fewer ranks at each level", 3, with(vcycle, false)});
  to->push_back({"vcycle-periodic", "the same, around the edges", 3, with(vcycle, true)});
  to->push_back({"wavefront", "LU's pipelined sweeps, nothing is called beyond the edge", 2, with(wavefront, true)});
  to->push_back({"wavefront-procnull", "the same with MPI_PROC_NULL", 2, with(wavefront, false)});
}

}  // namespace cairn::scale
