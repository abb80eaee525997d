#include <cooperative_groups.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "gpu/testing/traced_kernel.h"

namespace cairn::gpu {
namespace {

using emulator::converge;

struct Seen {
  uint32_t location;
  uint32_t mask;
  bool operator==(const Seen &) const = default;
};

/// Notes who is at `location`, once for them all.
void note(std::vector<Seen> *seen, uint32_t location) {
  const uint32_t mask = converge(location);
  if ((mask & ((1u << emulator::lane_index()) - 1)) == 0) seen->push_back({location, mask});
}

class Emulator : public ::testing::Test {
 protected:
  ~Emulator() override { emulator::set_schedule(emulator::Schedule::lowest_location); }
};

TEST_F(Emulator, LanesPartAndMeet) {
  std::vector<Seen> seen;
  emulator::launch(dim3(1), dim3(8), [&] {
    note(&seen, 1);
    if (threadIdx.x < 3) {
      note(&seen, 2);
    } else {
      note(&seen, 3);
    }
    for (unsigned i = 0; i < threadIdx.x % 3; ++i) note(&seen, 4);
    note(&seen, 5);
  });
  EXPECT_EQ(seen, (std::vector<Seen>{{1, 0xff}, {2, 0x07}, {3, 0xf8}, {4, 0xb6}, {4, 0x24}, {5, 0xff}}));
}

TEST_F(Emulator, WarpsTakeTurnsAndPartialWarpsAreSmaller) {
  std::vector<Seen> seen;
  emulator::launch(dim3(1), dim3(40), [&] {
    note(&seen, 1);
    note(&seen, 2);
  });
  EXPECT_EQ(seen, (std::vector<Seen>{{1, 0xffffffff}, {1, 0xff}, {2, 0xffffffff}, {2, 0xff}}));
}

TEST_F(Emulator, EveryThreadRunsOnceInThreeDimensions) {
  std::vector<int> ran(2 * 3 * 2 * 4 * 2 * 5, 0);
  emulator::launch(dim3(2, 3, 2), dim3(4, 2, 5), [&] {
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    ++ran[block * 40 + thread];
    EXPECT_EQ(emulator::lane_index(), thread % 32);
  });
  EXPECT_EQ(ran, std::vector<int>(ran.size(), 1));
}

TEST_F(Emulator, WarpAndBlockFunctionsExchange) {
  std::vector<int> sums(64, 0);
  emulator::launch(dim3(1), dim3(64), [&] {
    __shared__ int shared[2];
    int sum = static_cast<int>(threadIdx.x);
    for (unsigned by = 16; by != 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
    __syncthreads();
    sums[threadIdx.x] = shared[0] + shared[1];
    EXPECT_EQ(__ballot_sync(0xffffffff, threadIdx.x % 2), 0xaaaaaaaau);
    EXPECT_EQ(__shfl_xor_sync(0xffffffff, threadIdx.x, 1), threadIdx.x ^ 1);
  });
  EXPECT_EQ(sums, std::vector<int>(64, 64 * 63 / 2));
}

TEST_F(Emulator, ASpinLockOfOneWarpComesFree) {
  int lock = 0;
  int inside = 0;
  emulator::launch(dim3(2), dim3(64), [&] {
    bool done = false;
    while (!done) {
      if (atomicCAS(&lock, 0, 1) == 0) {
        ++inside;
        atomicExch(&lock, 0);
        done = true;
      }
    }
  });
  EXPECT_EQ(inside, 128);
}

TEST_F(Emulator, ABlockMayWaitForALaterOne) {
  int last = -1;
  std::vector<int> mine(5, -1);
  emulator::launch({dim3(5), dim3(33), 8}, [&] {
    __shared__ unsigned block;
    int *dynamic = emulator::dynamic_array<int *>();
    block = blockIdx.x;
    dynamic[1] = static_cast<int>(blockIdx.x);
    __syncthreads();
    // From the last block to the first.
    while (atomicAdd(&last, 0) != (blockIdx.x == 4 ? -1 : static_cast<int>(blockIdx.x) + 1)) {
    }
    __syncthreads();
    EXPECT_EQ(block, blockIdx.x);
    mine[blockIdx.x] = dynamic[1];
    __syncthreads();
    atomicExch(&last, static_cast<int>(blockIdx.x));
  });
  EXPECT_EQ(last, 0);
  EXPECT_EQ(mine, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(Emulator, BlocksThatWaitForEverAreTold) {
  int never = 0;
  EXPECT_DEATH(
      {
        emulator::set_patience(20'000, true);
        emulator::launch(dim3(3), dim3(32), [&] {
          while (blockIdx.x != 2 && atomicAdd(&never, 0) == 0) {
          }
        });
      },
      "emulator: in [0-9]+ turns no lane has ended and none has met another: the 2 blocks that are there, of 3, may be "
      "waiting for each other");
}

TEST_F(Emulator, LanesThatSpinWaitForLanesThatAreFurther) {
  volatile int done = 0;
  emulator::launch(dim3(1), dim3(32), [&] {
    if (threadIdx.x != 31) {
      while (done == 0) converge(1);
    } else {
      converge(2);  // behind those, and never the lowest
      done = 1;
    }
  });
  EXPECT_EQ(done, 1);
}

TEST_F(Emulator, BarriersTellOfAllLanes) {
  emulator::launch(dim3(2), dim3(100), [] {
    EXPECT_EQ(__syncthreads_count(threadIdx.x % 3 == 0), 34);
    EXPECT_EQ(__syncthreads_count(threadIdx.x == 99), 1);
    EXPECT_EQ(__syncthreads_or(threadIdx.x == 50), 1);
    EXPECT_EQ(__syncthreads_or(0), 0);
    EXPECT_EQ(__syncthreads_and(threadIdx.x < 100), 1);
    if (threadIdx.x >= 60) return;
    EXPECT_EQ(__syncthreads_and(threadIdx.x < 60), 1);
    EXPECT_EQ(__syncthreads_and(threadIdx.x != 3), 0);
  });
}

TEST_F(Emulator, DynamicSharedMemoryIsTheBlocks) {
  std::vector<int> last(4, 0);
  emulator::launch({dim3(4), dim3(64), 64 * sizeof(int)}, [&] {
    int(&shared)[] = emulator::dynamic_array<int(&)[]>();
    EXPECT_EQ(emulator::dynamic_shared_size(), 256);
    shared[threadIdx.x] = static_cast<int>(threadIdx.x + 100 * blockIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) last[blockIdx.x] = shared[63];
  });
  EXPECT_EQ(last, (std::vector<int>{63, 163, 263, 363}));
}

TEST_F(Emulator, WhoIsActiveIsWhoIsThere) {
  std::vector<unsigned> masks(32, 0);
  emulator::launch(dim3(1), dim3(32), [&] {
    converge(1);
    if (threadIdx.x % 3 == 0) {
      masks[threadIdx.x] = __activemask();
    } else {
      masks[threadIdx.x] = __activemask();
    }
  });
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(masks[lane], lane % 3 == 0 ? 0x49249249u : ~0x49249249u);
}

TEST_F(Emulator, GroupsAreThoseOfTheGuide) {
  namespace cg = cooperative_groups;
  emulator::launch(dim3(2), dim3(16, 4), [] {
    const cg::thread_block block = cg::this_thread_block();
    EXPECT_EQ(block.size(), 64);
    EXPECT_EQ(block.thread_rank(), threadIdx.x + 16 * threadIdx.y);
    EXPECT_EQ(block.group_index().x, blockIdx.x);
    const auto tile = cg::tiled_partition<8>(block);
    EXPECT_EQ(tile.meta_group_size(), 8);
    EXPECT_EQ(tile.meta_group_rank(), block.thread_rank() / 8);
    EXPECT_EQ(tile.thread_rank(), threadIdx.x % 8);
    EXPECT_EQ(tile.shfl(block.thread_rank(), 3), block.thread_rank() / 8 * 8 + 3);
    EXPECT_EQ(tile.shfl_xor(block.thread_rank(), 1), block.thread_rank() ^ 1);
    EXPECT_EQ(tile.shfl_down(tile.thread_rank(), 2),
              tile.thread_rank() < 6 ? tile.thread_rank() + 2 : tile.thread_rank());
    EXPECT_EQ(tile.shfl_up(tile.thread_rank(), 2),
              tile.thread_rank() < 2 ? tile.thread_rank() : tile.thread_rank() - 2);
    EXPECT_EQ(tile.ballot(tile.thread_rank() > 5), 0xc0);
    EXPECT_EQ(tile.match_any(tile.thread_rank() / 4), tile.thread_rank() < 4 ? 0x0f : 0xf0);
    EXPECT_EQ(tile.all(tile.meta_group_rank() == block.thread_rank() / 8), 1);
    EXPECT_EQ(tile.any(tile.thread_rank() == 8), 0);
    EXPECT_EQ(cg::reduce(tile, tile.thread_rank(), cg::plus<unsigned>()), 28);
    EXPECT_EQ(cg::reduce(tile, tile.thread_rank(), cg::greater<unsigned>()), 7);
    EXPECT_EQ(cg::reduce(tile, tile.thread_rank() + 5, cg::less<unsigned>()), 5);
    const auto quarter = cg::tiled_partition<2>(tile);
    EXPECT_EQ(quarter.meta_group_size(), 4);
    EXPECT_EQ(quarter.meta_group_rank(), tile.thread_rank() / 2);
    if (threadIdx.x % 4 == 1) {
      const cg::coalesced_group together = cg::coalesced_threads();
      EXPECT_EQ(together.size(), 8);
      EXPECT_EQ(together.thread_rank(), block.thread_rank() % 32 / 4);
      EXPECT_EQ(together.shfl(block.thread_rank() % 32, 7), 29);
      EXPECT_EQ(together.ballot(together.thread_rank() == 2), 4);
      cg::sync(together);
    }
    block.sync();
    EXPECT_EQ(cg::this_grid().thread_rank(), blockIdx.x * 64 + block.thread_rank());
  });
}

void wait_for_all(int *at, int *seen, int blocks) {
  __shared__ int mine;
  int(&dynamic)[] = emulator::dynamic_array<int(&)[]>();
  if (threadIdx.x == 0) mine = static_cast<int>(blockIdx.x);
  dynamic[threadIdx.x] = static_cast<int>(blockIdx.x * 1000 + threadIdx.x);
  __syncthreads();
  for (int round = 1; round < 4; ++round) {
    atomicAdd(at, 1);
    cooperative_groups::this_grid().sync();
    if (*at != round * 40 * blocks) *seen = -1;
    cooperative_groups::this_grid().sync();
    EXPECT_EQ(mine, blockIdx.x);
    EXPECT_EQ(dynamic[threadIdx.x], blockIdx.x * 1000 + threadIdx.x);
  }
  ++*seen;
}

TEST_F(Emulator, BlocksOfACooperativeLaunchWaitForEachOther) {
  int at = 0;
  int seen = 0;
  int *at_pointer = &at;
  int *seen_pointer = &seen;
  int blocks = 5;
  void *arguments[] = {&at_pointer, &seen_pointer, &blocks};
  EXPECT_EQ(cudaLaunchCooperativeKernel(wait_for_all, dim3(5), dim3(40), arguments, 160), cudaSuccess);
  EXPECT_EQ(seen, 200);
}

TEST_F(Emulator, HostThreadsMayLaunchAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> sums(4, 0);
  threads.reserve(sums.size());
  for (int &sum : sums) {
    threads.emplace_back([&sum] {
      for (int i = 0; i < 20; ++i) emulator::launch(dim3(3), dim3(33), [&sum] { atomicAdd(&sum, 1); });
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(sums, std::vector<int>(4, 20 * 99));
}

TEST_F(Emulator, StreamsAndDevicesHaveNames) {
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  EXPECT_EQ(cudaSetDevice(emulator::device_count()), cudaErrorInvalidDevice);
}

TEST_F(Emulator, RandomSchedulesSplitWarpsButLoseNoLane) {
  emulator::set_schedule(emulator::Schedule::random, 4);
  std::vector<Seen> seen;
  emulator::launch(dim3(1), dim3(32), [&] {
    for (int i = 0; i < 100; ++i) note(&seen, 1);
  });
  uint64_t visits = 0;
  for (const Seen &each : seen) visits += ones(each.mask);
  EXPECT_EQ(visits, 3200);
  EXPECT_GT(seen.size(), 100);
}

TEST_F(Emulator, APointRecordsWhoIsThere) {
  const auto traced = trace_kernel(dim3(2), dim3(48), {}, 1 << 16, [] {
    point(1);
    if (threadIdx.x >= 40) return;
    if (threadIdx.x % 2 == 0) point(2);
    point(3);
  });
  ASSERT_EQ(traced.size(), 4);
  EXPECT_EQ(traced[2].events, (std::vector<Event>{{1, 0xffffffff}, {2, 0x55555555}, {3, 0xffffffff}}));
  EXPECT_EQ(traced[3].events, (std::vector<Event>{{1, 0xffff}, {2, 0x55}, {3, 0xff}}));
  EXPECT_EQ(traced[3].record.all, 0xffff);
  EXPECT_EQ(traced[3].record.index, 3);
  EXPECT_EQ(traced[3].record.lost, 0);
}

TEST_F(Emulator, AFullPoolKeepsTheBeginningAndCountsTheRest) {
  const auto whole = trace_kernel(dim3(3), dim3(64), {}, 1 << 20, irregular);
  for (const size_t capacity : {200, 1000, 5000, 20000}) {
    const auto cut = trace_kernel(dim3(3), dim3(64), {}, capacity, irregular);
    uint64_t lost = 0;
    for (size_t i = 0; i < cut.size(); ++i) {
      lost += cut[i].record.lost;
      ASSERT_EQ(cut[i].record.events + cut[i].record.lost, whole[i].record.events);
      ASSERT_TRUE(std::equal(cut[i].events.begin(), cut[i].events.end(), whole[i].events.begin()));
    }
    EXPECT_GT(lost, 0);
  }
}

TEST_F(Emulator, ARingKeepsTheEnd) {
  const auto whole = trace_kernel(dim3(3), dim3(64), {}, 1 << 20, irregular);
  Buffers ring{};
  ring.policy = Policy::ring;
  ring.ring_words = 64;
  ring.ring_chunks = 3;
  const auto cut = trace_kernel(dim3(3), dim3(64), ring, kChunkHead + 6 * 64 * 3, irregular);
  for (size_t i = 0; i < cut.size(); ++i) {
    ASSERT_GT(cut[i].record.lost, 0);
    ASSERT_GT(cut[i].record.events, 50);
    ASSERT_EQ(cut[i].record.events + cut[i].record.lost, whole[i].record.events);
    ASSERT_TRUE(std::equal(cut[i].events.rbegin(), cut[i].events.rend(), whole[i].events.rbegin()));
  }
}

TEST_F(Emulator, FiltersLeaveWarpsOut) {
  Buffers some{};
  some.first_block = 1;
  some.end_block = 3;
  some.one_in = 3;
  const auto traced = trace_kernel(dim3(4), dim3(64), some, 1 << 16, [] { point(1); });
  std::vector<uint32_t> indices;
  for (const Traced &each : traced) {
    if (each.record.events != 0) indices.push_back(each.record.index);
  }
  EXPECT_EQ(indices, (std::vector<uint32_t>{2, 5}));  // the first and the fourth of blocks 1 and 2
}

TEST_F(Emulator, PointsOnTheHostAreNothing) {
  emulator::launch(dim3(1), dim3(32), [] { const KernelScope scope{Trace()}; });
  point(1);
  EXPECT_TRUE(branch(2, true));
}

TEST_F(Emulator, LanesThatAreNotTracedTakeTurnsAtPointsToo) {
  volatile bool set = false;
  emulator::launch(dim3(1), dim3(2), [&] {
    const KernelScope scope{Trace()};
    if (threadIdx.x == 1) set = true;
    while (!set) point(1);
  });
  EXPECT_TRUE(set);
}

TEST_F(Emulator, AnEmptyTraceIsNoTrace) {
  emulator::launch(dim3(1), dim3(32), [] {
    const KernelScope scope{Trace()};
    point(1);
  });
}

}  // namespace
}  // namespace cairn::gpu
