// Synthetic recordings for tests: what a recorder would hand over, made up, deterministic. Not part of the product.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "trace/model/record.h"

namespace cairn::trace {

/// A 2-D five-point stencil with a tag per direction: 25 signatures at 20 call sites in two modules, PROC_NULL edges.
ProcessRecord stencil_rank(uint32_t rank, uint32_t rows, uint32_t columns, uint32_t iterations);

/// What random programs do on `ranks` ranks: several threads, segments and shapes of fields, modules numbered
/// differently, statistics or lossless times; ranks fall into a few classes.
std::vector<ProcessRecord> random_program(uint32_t ranks, uint64_t seed);

/// One of them in which every rank has lossless times.
std::vector<ProcessRecord> lossless_program(uint32_t ranks, uint64_t seed);

/// What varies along time: a counter, sizes in another order on each rank, neighbours that coincide at the edges, lists
/// of changing length, texts; statistics.
std::vector<ProcessRecord> varying_program(uint32_t ranks, uint64_t seed);

/// Twelve partners a step, one after the other: most ranks receive from whom they send to, some from the one before.
std::vector<ProcessRecord> partners_program(uint32_t ranks, uint64_t seed);

/// A multipartition on side² ranks: each stage has a tag that names a cell, whose place is skewed from row to row.
std::vector<ProcessRecord> skewed_program(uint32_t side, uint64_t seed);

/// An MPI_Alltoallv a step: counts that are the same, differ or change, whose running sums the displacements are
/// always, on some ranks or never.
std::vector<ProcessRecord> exchanging_program(uint32_t ranks, uint64_t seed);

/// A program that drains two arrays of requests in turns, at two call sites, and its calls as they are read back, by
/// rank.
struct DrainingProgram {
  std::vector<ProcessRecord> processes;
  std::vector<std::vector<Row>> calls;
};
/// `in_order`: a request completes in each call, always the first that is left; else up to three, any.
DrainingProgram draining_program(uint32_t ranks, uint64_t seed, bool in_order);

/// How ranks with different numbers of neighbours wait for them, a step after the other: one by one (in their order or
/// in any), as many as there are, or polling: with an even seed sometimes in vain, after all that.
enum class Neighbours : uint8_t { in_order, one_by_one, several, polled };
DrainingProgram neighbours_program(uint32_t ranks, uint64_t seed, Neighbours kind);

/// Ranks that wait by polling: MPI_Test and MPI_Iprobe as often as it takes, 0 times among them, and cycles of several
/// polls that end anywhere; never the same number on two ranks. With an even number of
/// ranks, two threads.
std::vector<ProcessRecord> polling_program(uint32_t ranks, uint64_t seed);

/// Ranks that go one way where a poll has found something, and another where it has not; each step and rank as chance
/// will have it, by one of five programs (seed % 5): with statistics, or with times; with seed % 16 from 8 to 11 ranks
/// end anywhere, from 12 on call sites are numbered as each rank comes to them.
std::vector<ProcessRecord> branching_program(uint32_t ranks, uint64_t seed);

/// Gives the processes heap segments: most ranks use the same number in each turn of a loop, of a size that grows with
/// the rank or is one of two; one has turns of another length, some have none, and one begins and ends them as it
/// comes. `with_threads`: most ranks make and join two threads in each turn instead.
void add_heap(std::vector<ProcessRecord> *processes, uint64_t seed, bool with_threads = false);

}  // namespace cairn::trace
