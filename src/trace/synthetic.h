// Synthetic recordings for tests: what a recorder would hand over, made up, deterministic. Not part of the product.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "trace/record.h"

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

}  // namespace cairn::trace
