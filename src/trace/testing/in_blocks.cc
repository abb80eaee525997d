#include "trace/testing/in_blocks.h"

#include <utility>

#include "trace/file/file.h"
#include "trace/file/rank_block.h"

namespace cairn::trace {

namespace {

void write(const RankBlock &block, Bytes *blocks) {
  for (const ByteView piece : block.pieces()) blocks->insert(blocks->end(), piece.begin(), piece.end());
}

}  // namespace

InBlocks in_blocks(const std::vector<ProcessRecord> &processes, bool (*keeps)(uint32_t rank)) {
  InBlocks all;
  for (const ProcessRecord &process : processes) {
    Part part = *Part::of(process);
    const uint64_t offset = all.blocks.size();
    {
      const RankBlock block(part);
      if (keeps == nullptr || !keeps(process.rank)) write(block, &all.blocks);
    }
    if (all.blocks.size() != offset) part.times_lie_at(offset);
    all.part = *Part::merge(std::move(all.part), *Part::parse(part.serialise()));
  }
  return all;
}

InBlocks in_bundles(const std::vector<ProcessRecord> &processes, size_t most) {
  InBlocks all;
  std::vector<Part> parts;
  for (const ProcessRecord &process : processes) {
    Part part = *Part::of(process);
    const uint64_t offset = all.blocks.size();
    write(RankBlock(part), &all.blocks);
    if (all.blocks.size() != offset) part.times_lie_at(offset);
    parts.push_back(std::move(part));
  }
  const uint64_t begin = all.blocks.size();
  while (parts.size() > 1) {
    std::vector<Part> pairs;
    for (size_t i = 0; i < parts.size(); i += 2) {
      pairs.push_back(std::move(parts[i]));
      if (i + 1 == parts.size()) break;
      pairs.back() = *Part::merge(std::move(pairs.back()), *Part::parse(parts[i + 1].serialise()));
      const Bytes bundle = *pairs.back().take_bundle(most);
      all.blocks.insert(all.blocks.end(), bundle.begin(), bundle.end());
    }
    parts = std::move(pairs);
  }
  all.part = std::move(parts[0]);
  if (all.blocks.size() != begin) all.bundles = begin;
  return all;
}

Bytes InBlocks::file(const RunInfo &run) const {
  return with_blocks(*part.to_file(run, blocks.size(), bundles), blocks);
}

Bytes with_blocks(ByteView file, ByteView blocks) {
  Bytes whole(file.begin(), file.end());
  whole.insert(whole.begin() + kHeaderBytes, blocks.begin(), blocks.end());
  return whole;
}

}  // namespace cairn::trace
