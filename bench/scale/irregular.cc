// Programs whose communication follows no rule: counts, orders and partners are drawn.
#include <algorithm>
#include <numeric>

#include "scale/chance.h"
#include "scale/patterns.h"

namespace cairn::scale {
namespace {

// --- Alltoallv
// --------------------------------------------------------------------------------------------------------

std::vector<Atom> before(const std::vector<Atom> &counts) {
  std::vector<Atom> sums(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), sums.begin(), Atom{0});
  return sums;
}

/// `anew`: all counts are drawn again in each step; else, as in NAS IS, one key more moves to rank 0 in each.
void alltoallv(Script &s, const Setting &setting, bool anew) {
  const auto count = [&](uint64_t step, uint32_t from, uint32_t to) -> Atom {
    const uint64_t pair = uint64_t{from} << 32 | to;
    const Atom drawn = 4000 + below(chance(7, pair, anew ? step : 0), 250);
    return drawn + (!anew && to == 0 && from == 0 ? static_cast<Atom>(step) : 0);
  };
  s.init(1);
  for (uint64_t step = 0; step < setting.steps; ++step) {
    std::vector<Atom> out;
    std::vector<Atom> in;
    for (uint32_t other = 0; other < setting.ranks; ++other) {
      out.push_back(count(step, s.rank(), other));
      in.push_back(count(step, other, s.rank()));
    }
    const std::vector<Atom> out_at = before(out);
    const std::vector<Atom> in_at = before(in);
    s.allreduce(10, global(512), {global(0), 1024 + Atom{setting.ranks}, kInt});
    s.alltoall(11, {s.heap(1), 1, kInt}, {s.heap(2), 1, kInt});
    s.alltoallv(12, {s.heap(3), out, out_at}, {s.heap(4), in, in_at}, kInt);
  }
  s.reduce(13, stack(48), {stack(40)}, kMax);
  s.finalize(14);
}

// --- master and workers
// -----------------------------------------------------------------------------------------------

constexpr Atom kTask = 1;
constexpr Atom kResult = 2;
constexpr Atom kStop = 3;

/// Tasks that worker w gets: some more than others.
uint64_t tasks_of(uint32_t worker, uint64_t steps) { return steps + below(chance(11, worker), 3); }
Atom result_size(uint32_t worker, uint64_t task) { return 1 + below(chance(12, worker, task), 8); }

void worker(Script &s, uint64_t steps) {
  const uint64_t tasks = tasks_of(s.rank(), steps);
  for (uint64_t task = 0; task < tasks; ++task) {
    s.recv_any(20, {s.heap(1), 16}, {0, kTask, 128});
    s.send(21, {s.heap(2), result_size(s.rank(), task)}, 0, kResult);
  }
  s.recv_any(20, {s.heap(1), 16}, {0, kStop, 0});
}

/// Whose result comes next is drawn: in each round all workers that are still at it, in another order.
void master(Script &s, uint64_t steps) {
  for (uint32_t w = 1; w < s.size(); ++w) s.send(10, {s.heap(1), 16}, w, kTask);
  if (s.size() < 2) return;
  for (uint64_t round = 0; round < steps + 3; ++round) {
    const Permutation order(s.size() - 1, 500 + round);
    for (uint32_t i = 0; i + 1 < s.size(); ++i) {
      const uint32_t w = order.forth(i) + 1;
      const uint64_t tasks = tasks_of(w, steps);
      if (round >= tasks) continue;
      s.recv_any(11, {s.heap(2), 8}, {w, kResult, 8 * result_size(w, round)});
      if (round + 1 < tasks)
        s.send(12, {s.heap(1), 16}, w, kTask);
      else
        s.send(13, {s.heap(1), 0}, w, kStop);
    }
  }
}

void master_worker(Script &s, const Setting &setting) {
  s.init(1);
  s.rank() == 0 ? master(s, setting.steps) : worker(s, setting.steps);
  s.finalize(30);
}

// --- random graphs
// ----------------------------------------------------------------------------------------------------

struct Edge {
  uint32_t to;
  uint64_t number;  ///< both ends know it
};
struct Edges {
  std::vector<Edge> out;
  std::vector<Edge> in;
};

/// The union of random permutations, an edge of which is there with one chance in two.
Edges edges_of(uint32_t rank, uint32_t ranks, uint64_t epoch, uint64_t permutations) {
  Edges edges;
  for (uint64_t k = 0; k < permutations; ++k) {
    const Permutation permutation(ranks, chance(epoch, k, 21));
    const auto there = [&](uint32_t from) { return chance(epoch, k, from) % 2 == 0; };
    const uint32_t to = permutation.forth(rank);
    const uint32_t from = permutation.back(rank);
    if (there(rank) && to != rank) edges.out.push_back({to, k});
    if (there(from) && from != rank) edges.in.push_back({from, k});
  }
  return edges;
}

/// Everything is posted; receives complete in the order that `order` draws.
void exchange(Script &s, const Edges &edges, uint64_t epoch, uint64_t order, bool any) {
  const auto count = [&](const Edge &edge, uint32_t from) {
    return 8 + Atom{below(chance(epoch, edge.number, from), 56)};
  };
  std::vector<Handle> in;
  std::vector<Handle> out;
  for (const Edge &edge : edges.in) {
    const Buffer at = s.heap(1, 512 * static_cast<Atom>(in.size()));
    in.push_back(s.irecv(10, {at, count(edge, edge.to)}, edge.to, static_cast<Atom>(edge.number)));
  }
  for (const Edge &edge : edges.out) {
    const Buffer at = s.heap(2, 512 * static_cast<Atom>(out.size()));
    out.push_back(s.isend(11, {at, count(edge, s.rank())}, edge.to, static_cast<Atom>(edge.number)));
  }
  if (any) {
    std::vector<size_t> left(in.size());
    std::iota(left.begin(), left.end(), size_t{0});
    while (!left.empty()) {
      const auto pick = left.begin() + below(chance(order, s.rank(), left.size()), left.size());
      s.waitany(12, in, *pick);
      left.erase(pick);
    }
  } else if (!in.empty()) {
    s.waitall(13, in);
  }
  if (!out.empty()) s.waitall(14, out);
}

/// A structure of its own on every rank, and another one after each regridding.
void amr(Script &s, const Setting &setting) {
  constexpr uint64_t kStepsEach = 10;
  s.init(1);
  const uint64_t epochs = (setting.steps + kStepsEach - 1) / kStepsEach;
  for (uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const Atom blocks = 4 + below(chance(31, epoch, s.rank()), 12);
    s.allgather(5, {stack(8), 1, kInt}, {s.heap(5), 1, kInt});
    s.allreduce(6, stack(24), {stack(16), blocks});
    const Edges edges = edges_of(s.rank(), setting.ranks, epoch, 16);
    s.loop(std::min(kStepsEach, setting.steps - epoch * kStepsEach), [&] {
      exchange(s, edges, epoch, 0, false);
      s.allreduce(7, stack(24), {stack(16)});
    });
  }
  s.finalize(30);
}

/// The same neighbours in every step, whose messages arrive in another order.
void random_neighbours(Script &s, const Setting &setting) {
  s.init(1);
  const Edges edges = edges_of(s.rank(), setting.ranks, 77, 12);
  for (uint64_t step = 0; step < setting.steps; ++step) exchange(s, edges, 77, step + 1, true);
  s.finalize(30);
}

}  // namespace

void add_irregular(std::vector<Pattern> *to) {
  const auto all_to_all = [](bool anew) {
    return [anew](Script &script, const Setting &setting) { alltoallv(script, setting, anew); };
  };
  to->push_back(
      {"is", "Alltoallv, counts that differ for every pair and by one in each step, as in IS", 0, all_to_all(false)});
  to->push_back({"alltoallv", "Alltoallv, counts drawn anew in each step", 0, all_to_all(true)});
  to->push_back({"masterworker", "a master that serves whoever comes (MPI_ANY_SOURCE)", 0, master_worker});
  to->push_back({"amr", "a random graph of neighbours, another one every ten steps", 0, amr});
  to->push_back({"random", "a random graph of neighbours, Waitany in a drawn order", 0, random_neighbours});
}

}  // namespace cairn::scale
