#include "trace/in_blocks.h"

#include "trace/file.h"
#include "trace/rank_block.h"

namespace cairn::trace {

InBlocks in_blocks(const std::vector<ProcessRecord> &processes, bool (*keeps)(uint32_t rank)) {
  InBlocks all;
  for (const ProcessRecord &process : processes) {
    Part part = *Part::of(process);
    const uint64_t offset = all.blocks.size();
    {
      const RankBlock block(part);
      const bool written = block.size() != 0 && (keeps == nullptr || !keeps(process.rank));
      for (const ByteView piece : written ? block.pieces() : std::vector<ByteView>()) {
        all.blocks.insert(all.blocks.end(), piece.begin(), piece.end());
      }
    }
    if (all.blocks.size() != offset) part.times_lie_at(offset);
    all.part = *Part::merge(std::move(all.part), *Part::parse(part.serialise()));
  }
  return all;
}

Bytes with_blocks(ByteView file, ByteView blocks) {
  Bytes whole(file.begin(), file.end());
  whole.insert(whole.begin() + kHeaderBytes, blocks.begin(), blocks.end());
  return whole;
}

}  // namespace cairn::trace
