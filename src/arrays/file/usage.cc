#include "arrays/file/usage.h"

#include <algorithm>

namespace cairn::arrays {
namespace {

constexpr uint64_t kMostSteps = 1'000'000;

uint64_t runs_of(const Regions &regions) {
  uint64_t runs = 0;
  for (const Region &region : regions) runs += region.runs();
  return runs;
}

/// How many bytes lie in at least one of the stretches.
uint64_t united(std::vector<Run> stretches) {
  unite(&stretches);
  uint64_t bytes = 0;
  for (const Run &each : stretches) bytes += each.bytes;
  return bytes;
}

}  // namespace

bool covered(const Index &index, size_t block) {
  const Block &own = index.blocks()[block];
  if (own.replaced) return true;
  std::vector<Run> stretches;
  uint64_t steps = 0;
  bool newer = false;
  for (const size_t other : index.find(own.regions)) {
    // They come oldest first.
    if (other == block) newer = true;
    if (!newer || other == block) continue;
    const Block &above = index.blocks()[other];
    steps += runs_of(above.regions) + runs_of(own.regions);
    if (steps > kMostSteps) return false;
    uint64_t at = 0;
    for (const Region &region : own.regions) {
      for (const Region &over : above.regions) {
        for_each_common(region, over, [&](uint64_t in_own, uint64_t /*in_above*/, uint64_t bytes) {
          stretches.push_back({at + in_own, bytes});
          return true;
        });
      }
      at += region.bytes();
    }
  }
  return united(std::move(stretches)) == own.bytes();
}

std::vector<bool> needed(const Index &index) {
  return index.needed([&](size_t block) { return !covered(index, block); });
}

Usage usage_of(const StoredFile &file) {
  Usage usage;
  const Index &index = file.index();
  const uint64_t data_begin = index.data_begin;
  usage.header = physical_header(file.header(), file.index_place(), data_begin, file.size()).size();
  usage.room = data_begin - std::min(data_begin, usage.header);
  usage.index = file.index_place().size;
  usage.replaced = index.replaced;
  Run index_run{file.index_place().offset, usage.index};
  if (index.end < index_run.offset && index_run.offset - index.end < 4) {  // it ends at a multiple of 4
    usage.index += index_run.offset - index.end;
    index_run = {index.end, usage.index};
  }
  const std::vector<bool> wanted = needed(index);
  std::vector<Run> used = {{0, usage.header + usage.room}, index_run};
  const std::vector<Run> segments = index.segment_places();
  usage.segments = segments.size();
  for (const Run &segment : segments) usage.index += segment.bytes;
  used.insert(used.end(), segments.begin(), segments.end());
  for (size_t i = 0; i < index.blocks().size(); ++i) {
    const Block &block = index.blocks()[i];
    usage.blocks += block.size;
    if (!wanted[i]) {
      ++usage.covered_blocks;
      usage.covered += block.size;
    }
    if (block.size > file.size()) continue;
    const std::vector<Run> runs = places(block, index.home);
    used.insert(used.end(), runs.begin(), runs.end());
    // Blocks of a hostile file may all claim the same bytes, one by one.
    if (used.size() > kMostSteps) unite(&used);
  }
  const uint64_t taken = united(std::move(used)) + usage.replaced;
  usage.holes = file.size() - std::min(file.size(), taken);
  return usage;
}

}  // namespace cairn::arrays
