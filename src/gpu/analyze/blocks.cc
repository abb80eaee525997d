#include "gpu/analyze/blocks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/saturating.h"

namespace cairn::analyze {
namespace {

double ratio(double part, double whole) { return whole <= 0 ? 0 : part / whole; }

/// Cycles in which at least one of them is there. `times` in the order of their begins.
uint64_t covered(const std::vector<const BlockTime *> &times) {
  uint64_t sum = 0;
  uint64_t until = 0;
  for (const BlockTime *each : times) {
    const uint64_t from = std::max(each->begin, until);
    if (each->end > from) add_to(&sum, each->end - from);
    until = std::max(until, each->end);
  }
  return sum;
}

/// Blocks by the clocks that they were told by.
std::map<uint32_t, BlockTime> told(const gpu::LaunchRecord &launch, uint64_t *unended) {
  const uint32_t warps_per_block = launch.warps_per_block();
  std::map<uint32_t, BlockTime> blocks;
  for (size_t i = 0; i < launch.warps.size() && i < launch.clocks.size(); ++i) {
    const gpu::WarpClock &clock = launch.clocks[i];
    if (!clock.ended) {
      ++*unended;
      continue;
    }
    const uint64_t end = clock.begin + clock.cycles;
    const uint32_t block = launch.warps[i].index / warps_per_block;
    const auto [known, fresh] = blocks.try_emplace(block, BlockTime{block, clock.processor, clock.begin, end});
    if (fresh) continue;
    known->second.begin = std::min(known->second.begin, clock.begin);
    known->second.end = std::max(known->second.end, end);
  }
  return blocks;
}

}  // namespace

double ProcessorUse::mean_blocks() const { return ratio(static_cast<double>(block_cycles), static_cast<double>(busy)); }

uint64_t LaunchBlocks::cycles() const {
  uint64_t most = 0;
  for (const ProcessorUse &each : processors) most = std::max(most, each.end);
  return most;
}

double LaunchBlocks::busy() const {
  double sum = 0;
  for (const ProcessorUse &each : processors) sum += static_cast<double>(each.busy);
  return ratio(sum, static_cast<double>(cycles()) * static_cast<double>(all_processors));
}

double LaunchBlocks::balance() const {
  double sum = 0;
  uint64_t most = 0;
  for (const ProcessorUse &each : processors) {
    sum += static_cast<double>(each.busy);
    most = std::max(most, each.busy);
  }
  return ratio(sum, static_cast<double>(most) * static_cast<double>(processors.size()));
}

double LaunchBlocks::idle_at_end() const {
  const uint64_t all = cycles();
  double sum = 0;
  for (const ProcessorUse &each : processors) sum += static_cast<double>(all - each.end);
  return ratio(sum, static_cast<double>(all) * static_cast<double>(processors.size()));
}

uint64_t LaunchBlocks::lost() const {
  uint64_t sum = saturating_product(cycles(), all_processors - std::min(all_processors, processors.size()));
  for (const ProcessorUse &each : processors) add_to(&sum, cycles() - each.busy);
  return sum;
}

std::optional<LaunchBlocks> blocks_of(const gpu::LaunchRecord &launch) {
  if (launch.clocks.empty()) return std::nullopt;
  LaunchBlocks made;
  std::map<uint32_t, std::vector<const BlockTime *>> by_processor;
  for (const auto &[number, block] : told(launch, &made.unended)) {
    made.blocks.push_back(block);
  }
  std::map<uint32_t, uint64_t> zeros;
  for (const BlockTime &block : made.blocks) {
    const auto [zero, fresh] = zeros.try_emplace(block.processor, block.begin);
    if (!fresh) zero->second = std::min(zero->second, block.begin);
  }
  for (BlockTime &block : made.blocks) {
    const uint64_t zero = zeros.at(block.processor);
    block.begin -= zero;
    block.end -= zero;
    by_processor[block.processor].push_back(&block);
  }
  for (auto &[number, blocks] : by_processor) {
    std::stable_sort(blocks.begin(), blocks.end(),
                     [](const BlockTime *a, const BlockTime *b) { return a->begin < b->begin; });
    ProcessorUse use{number, blocks.size(), covered(blocks), 0, 0};
    for (const BlockTime *block : blocks) {
      add_to(&use.block_cycles, block->end - block->begin);
      use.end = std::max(use.end, block->end);
    }
    made.processors.push_back(use);
  }
  made.all_processors = std::max<uint64_t>(launch.processors, made.processors.size());
  return made;
}

void KernelBlocks::add(const LaunchBlocks &launch) {
  const uint64_t all = launch.cycles();
  uint64_t most = 0;
  ++launches;
  add_to(&blocks, launch.blocks.size());
  add_to(&cycles, all);
  add_to(&used, launch.processors.size());
  add_to(&available, launch.all_processors);
  add_to(&lost, launch.lost());
  add_to(&unended, launch.unended);
  for (const BlockTime &block : launch.blocks) {
    const uint64_t took = block.end - block.begin;
    add_to(&block_cycles, took);
    shortest = std::min(shortest, took);
    longest = std::max(longest, took);
  }
  for (const ProcessorUse &each : launch.processors) {
    add_to(&busy, each.busy);
    add_to(&idle_at_end, all - each.end);
    most = std::max(most, each.busy);
  }
  add_to(&most_busy, saturating_product(most, launch.processors.size()));
  add_to(&all_of_used, saturating_product(all, launch.processors.size()));
}

std::vector<KernelBlocks> kernel_blocks(const gpu::Launches &launches) {
  std::map<std::string, KernelBlocks> by_name;
  for (const gpu::LaunchRecord &launch : launches.launches) {
    const auto blocks = blocks_of(launch);
    if (!blocks) continue;
    const std::string name = launches.programs[launch.program].kernel(launch.kernel);
    KernelBlocks &kernel = by_name[name];
    kernel.kernel = name;
    kernel.add(*blocks);
  }
  std::vector<KernelBlocks> all;
  all.reserve(by_name.size());
  for (auto &[name, kernel] : by_name) all.push_back(std::move(kernel));
  std::stable_sort(all.begin(), all.end(),
                   [](const KernelBlocks &a, const KernelBlocks &b) { return a.lost > b.lost; });
  return all;
}

std::vector<double> blocks_over_time(const LaunchBlocks &launch, uint32_t processor, size_t length) {
  std::vector<double> parts(length);
  const double each = static_cast<double>(launch.cycles()) / static_cast<double>(std::max<size_t>(1, length));
  if (each <= 0) return parts;
  for (const BlockTime &block : launch.blocks) {
    if (block.processor != processor) continue;
    const double begin = static_cast<double>(block.begin) / each;
    const double end = static_cast<double>(block.end) / each;
    for (auto i = static_cast<size_t>(begin); i < length && static_cast<double>(i) < end; ++i) {
      const auto from = static_cast<double>(i);
      parts[i] += std::min(end, from + 1) - std::max(begin, from);
    }
  }
  return parts;
}

}  // namespace cairn::analyze
