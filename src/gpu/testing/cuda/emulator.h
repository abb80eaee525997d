// The emulator of a GPU: runs kernels on the CPU, warp by warp, so that every example and every coder can be tested
// where there is no GPU. Real divergence: each lane is a fiber, and those of a warp run together only as far as they
// come to a trace point together.
//
// Blocks begin one after another on the calling thread; one that has gone round for a while without ending is put aside
// and takes turns with those that begin after it, up to 16,384 threads, so that a block may wait for a later one. The
// warps of a block take turns, a trace point each. Of a warp's
// lanes, those at the lowest location go first (as compilers lay code out, so lanes that left a loop wait for the
// others); or, under Schedule::random, any location's, and only some of its lanes, as hardware since Volta may do.
// A lane runs alone between two points: lanes that talk through memory without a point, an atomic or a warp-wide
// function between them do not see each other. What cannot go on (lanes that wait for others that never come) ends the
// process with a line on stderr; blocks that may be waiting for each other for ever are told with one.
//
// Of a cooperative launch all blocks are there at once and take turns. A block that is put aside has its own image of
// what is `__shared__`, which is copied in and out (the thread-local variables of the program itself; not those of its
// shared libraries).
//
// A launch has ended when it returns, whatever its stream; kernels that wait for each other across streams don't end.
// Launches of several host threads wait for each other. Not emulated: clusters, dynamic parallelism. Cost: some 25 ns a
// lane and point.
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
  uint32_t lane = 0;  ///< its number in its warp
};
/// Null while the host runs.
extern __thread Place *current_place;
inline Place &place() { return *current_place; }
/// Whether a lane runs, not the host.
inline bool in_kernel() { return current_place != nullptr; }
/// The lane's number in its warp.
inline uint32_t lane_index() { return current_place->lane; }
/// Waits for the lanes that are at `location` too; gives those that are.
uint32_t converge(uint32_t location);
/// Of the lanes that came to a barrier together: how many there were, and whose `predicate` was true.
struct BlockVote {
  uint32_t yes = 0;
  uint32_t all = 0;
};
/// __syncthreads: all lanes of the block that have not ended.
BlockVote synchronise_block(bool predicate = false);
/// All lanes of a cooperative launch that have not ended.
void synchronise_grid();
/// Gives what each lane of `mask` gave, by lane (valid until the lane waits again); all of them must come.
const uint64_t *exchange(uint32_t mask, uint64_t value);
/// To be called where a lane may be spinning: lets the others go on now and then.
void pause();

/// The running kernel ends here, all lanes of it wherever they are, and breaks its device (devices.h).
[[noreturn]] void trap();

/// Ends the process with a line: what a kernel asks for is not emulated.
[[noreturn]] void refuse(const char *what);

/// What `extern __shared__` names, the same address in every launch, of as many bytes as the launch asked for.
constexpr size_t kMostDynamicShared = 227 << 10;
void *dynamic_shared();
size_t dynamic_shared_size();

/// Which memory an address of the running lane lies in.
struct Where {
  enum Memory : uint8_t { other, shared, stack };  // stack: the lane's own, with the kernel's arguments
  Memory memory = other;
  uint64_t offset = 0;  ///< in what is shared
};
Where where(const void *at);

enum class Schedule : uint8_t { lowest_location, random };
/// For the launches that follow. CAIRN_EMULATOR_SCHEDULE=random or random:SEED does it from outside.
void set_schedule(Schedule schedule, uint64_t seed = 1);

/// For how many turns of blocks in which no lane ends and none meets another it is taken for granted that they get
/// somewhere; then a line says that they may not, or, if `ends`, is the last thing that the process says.
/// CAIRN_EMULATOR_PATIENCE=TURNS does the latter from outside.
void set_patience(uint64_t turns, bool ends);

struct LaunchShape {
  Triple grid;
  Triple block;
  size_t shared = 0;  ///< bytes of dynamic shared memory
  bool cooperative = false;
};
/// Runs `kernel` once for every thread of the grid; returns when all have ended.
void launch(const LaunchShape &shape, const std::function<void()> &kernel);
inline void launch(Triple grid, Triple block, const std::function<void()> &kernel) {
  launch(LaunchShape{grid, block}, kernel);
}

/// Multiprocessors of a device: CAIRN_EMULATOR_PROCESSORS, or 1. Blocks get them in turn.
uint32_t processor_count();
/// The one that the running lane's block has.
uint32_t processor();
/// What its clock shows: nanoseconds of the host for which it has run blocks, as if the others had run theirs
/// meanwhile.
uint64_t cycles();

}  // namespace cairn::emulator
