// The emulator of a GPU: runs kernels on the CPU, warp by warp, so that every example and every coder can be tested
// where there is no GPU. Real divergence: each lane is a fiber, and those of a warp run together only as far as they
// come to a trace point together.
//
// Blocks run one after another on the calling thread; the warps of a block take turns, a trace point each. Of a warp's
// lanes, those at the lowest location go first (as compilers lay code out, so lanes that left a loop wait for the
// others); or, under Schedule::random, any location's, and only some of its lanes, as hardware since Volta may do.
// A lane runs alone between two points: lanes of a warp that talk through memory without a point, an atomic or a
// warp-wide function between them do not see each other. What cannot go on (lanes that wait for others that never come)
// ends the process with a line on stderr.
//
// Not emulated: dynamic shared memory, textures, clusters, dynamic parallelism. Cost: about 10 ns a lane and point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace cairn::emulator {

struct Triple {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

/// The place of the lane that runs.
struct Place {
  Triple thread;
  Triple block;
  Triple block_dim;
  Triple grid_dim;
};
Place &place();

/// Whether a lane runs, not the host.
bool in_kernel();
/// The lane's number in its warp.
uint32_t lane_index();
/// Waits for the lanes that are at `location` too; gives those that are.
uint32_t converge(uint32_t location);
/// __syncthreads: all lanes of the block that have not ended.
void synchronise_block();
/// Gives what each lane of `mask` gave, by lane (valid until the lane's next exchange); all of them must come.
const uint64_t *exchange(uint32_t mask, uint64_t value);
/// To be called where a lane may be spinning: lets the others go on now and then.
void pause();

enum class Schedule : uint8_t { lowest_location, random };
/// For the launches that follow. CAIRN_EMULATOR_SCHEDULE=random or random:SEED does it from outside.
void set_schedule(Schedule schedule, uint64_t seed = 1);

/// Runs `kernel` once for every thread of the grid; returns when all have ended. One launch at a time in a process.
void launch(Triple grid, Triple block, const std::function<void()> &kernel);

}  // namespace cairn::emulator
