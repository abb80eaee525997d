// libFuzzer on streams of times: any bytes are blocks that decode or are refused, whatever calls they are said to be
// of.
#include <cstdlib>

#include "timing/stream.h"

using namespace cairn;
using namespace cairn::timing;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  const uint64_t calls = uint64_t{1} << data[0] % 18;
  const uint32_t groups = 1 + data[1] % 9U;
  std::vector<BlockPlace> blocks;
  size_t bad = 0;
  if (!find_blocks({data + 2, size - 2}, calls, &blocks, &bad)) return 0;
  uint64_t counted = 0;
  for (const BlockPlace &block : blocks) {
    counted += block.calls;
    if (block.calls > 4000) continue;  // slow, and no other than a short one
    std::vector<uint32_t> own(block.calls);
    for (uint32_t i = 0; i < own.size(); ++i) own[i] = i / 3 % groups;
    std::vector<uint32_t> depths(groups);
    for (uint32_t i = 0; i < groups; ++i) depths[i] = i * data[1] / 9U;
    std::vector<PlacedTime> times;
    if (decode_block(block, own, &times, depths) == nullptr && times.size() != block.calls) std::abort();
  }
  if (counted > calls) std::abort();
  return 0;
}
