// Blocks: when the blocks of launches ran, and on which multiprocessors, of programs that ran with CAIRN_GPU_CLOCKS=1:
// whether multiprocessors had equally much to do, how long some had nothing any more while others went on, and how long
// blocks took.
//
// A multiprocessor counts cycles by a clock of its own, and nothing says how those stand to each other. So its cycles
// are counted from where its first traced block of the launch began, as if all multiprocessors had begun together; they
// do, unless another kernel is in the way. A block begins with the first of its traced warps and ends with the last.
//
// Plain functions. Cost: n log n in the warps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/file/launches.h"

namespace cairn::analyze {

struct BlockTime {
  uint32_t block = 0;  ///< in the grid
  uint32_t processor = 0;
  uint64_t begin = 0;  ///< in cycles of that multiprocessor
  uint64_t end = 0;
};

struct ProcessorUse {
  uint32_t number = 0;  ///< as the hardware numbers it
  uint64_t blocks = 0;
  uint64_t busy = 0;          ///< cycles with a traced block there
  uint64_t block_cycles = 0;  ///< of its blocks, together
  uint64_t end = 0;           ///< of the last of them
  /// How many blocks were there at once, while there were any.
  [[nodiscard]] double mean_blocks() const;
};

struct LaunchBlocks {
  std::vector<BlockTime> blocks;         ///< ascending
  std::vector<ProcessorUse> processors;  ///< those that had a block, ascending
  uint64_t all_processors = 0;           ///< of the device; where that is not known, those that had a block
  uint64_t unended = 0;                  ///< warps that did not tell when they ended, and are left out

  /// Until the last block ended.
  [[nodiscard]] uint64_t cycles() const;
  /// Of all cycles of all multiprocessors, in how many a block was there; 0 to 1.
  [[nodiscard]] double busy() const;
  /// Cycles with a block of those multiprocessors that had one: their mean by the most of any; 0 to 1.
  [[nodiscard]] double balance() const;
  /// Of all cycles of those, the share after their last block had ended; 0 to 1.
  [[nodiscard]] double idle_at_end() const;
  /// Cycles that multiprocessors of the device had no block.
  [[nodiscard]] uint64_t lost() const;
};

/// nullopt: the launch was traced without clocks, or no warp of it.
std::optional<LaunchBlocks> blocks_of(const gpu::LaunchRecord &launch);

/// The launches of a kernel that were traced with clocks.
struct KernelBlocks {
  std::string kernel;
  uint64_t launches = 0;
  uint64_t blocks = 0;
  uint64_t block_cycles = 0;
  uint64_t shortest = UINT64_MAX;  ///< block
  uint64_t longest = 0;
  uint64_t cycles = 0;     ///< of launches, together
  uint64_t used = 0;       ///< multiprocessors that had a block, of all launches together
  uint64_t available = 0;  ///< those of the device, likewise
  uint64_t busy = 0;       ///< cycles with a block, of all multiprocessors
  uint64_t most_busy = 0;  ///< as if all used ones had been busy like the busiest of their launch
  uint64_t idle_at_end = 0;
  uint64_t all_of_used = 0;  ///< cycles of those that had a block
  uint64_t lost = 0;         ///< cycles of multiprocessors without a block
  uint64_t unended = 0;      ///< warps
  void add(const LaunchBlocks &launch);
};
/// Those first that lost most.
std::vector<KernelBlocks> kernel_blocks(const gpu::Launches &launches);

/// What share of `length` equal parts of the launch's cycles each multiprocessor had how many blocks, in the mean.
std::vector<double> blocks_over_time(const LaunchBlocks &launch, uint32_t processor, size_t length);

}  // namespace cairn::analyze
