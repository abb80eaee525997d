// A Part as bytes: on its way through the tree (serialise, parse), and as a whole file.
#include <vector>

#include "trace/file/file.h"
#include "trace/file/sections.h"
#include "trace/merge/part.h"
#include "trace/merge/part_body.h"

namespace cairn::trace {

namespace {

/// What travels begins with this.
constexpr uint8_t kPartVersion = 1;

}  // namespace

Bytes Part::serialise() const {
  constexpr uint8_t kHeads = 64;  // bytes that heads of sections take
  const std::vector<Section> sections = body_->ranks.empty() ? std::vector<Section>() : encode_packed(*body_);
  size_t bytes = kHeads;
  for (const Section &section : sections) bytes += section.bytes.size();
  ByteWriter out(bytes);
  out.byte(kPartVersion);
  for (const Section &section : sections) {
    out.byte(static_cast<uint8_t>(section.kind));
    out.blob(section.bytes);
  }
  return out.take();
}

Result<Part> Part::parse(ByteView bytes) {
  ByteReader in(bytes);
  if (in.byte() != kPartVersion) {
    return tl::unexpected(Error{ErrorKind::unreadable, "a part has an unknown version", {}, 0, {}});
  }
  if (in.at_end()) return Part();
  std::vector<SectionView> sections;
  sections.reserve(8);
  while (!in.at_end() && !in.failed()) {
    SectionView section;
    section.kind = in.byte();
    section.bytes = in.blob();
    section.offset = in.position() - section.bytes.size();
    sections.push_back(section);
  }
  if (in.failed()) {
    return tl::unexpected(Error{ErrorKind::unreadable, "a part is cut short", {}, in.position(), {}});
  }
  Result<Decoded> decoded = decode_packed(sections);
  if (!decoded) return tl::unexpected(decoded.error());
  return Part(std::move(decoded->body));
}

Result<Bytes> Part::to_file(const RunInfo &run, uint64_t blocks, std::optional<uint64_t> bundles) const {
  std::vector<StoredSection> stored;
  if (blocks != 0) stored.push_back(absent_blocks(blocks));
  Result<std::vector<Section>> sections = encode(*body_, run, blocks != 0);
  if (!sections) return tl::unexpected(sections.error());
  if (bundles) sections->push_back(bundles_section(*bundles));
  return write_file(*sections, stored);
}

void Part::times_lie_at(uint64_t offset) {
  body_->offset = FoldColumn::constant(as_atom(offset), 1);
  for (ClassPart &part : body_->classes) part.times = {};
  for (PackedClass &part : body_->packed) part.times = {};
}

Bytes with_merge_cost(ByteView file, const MergeCost &cost, uint64_t blocks) {
  Result<std::vector<StoredSection>> stored = read_file(file, blocks);
  if (!stored) return {file.begin(), file.end()};
  constexpr auto kCost = static_cast<uint8_t>(SectionKind::cost);
  constexpr auto kMemory = static_cast<uint8_t>(SectionKind::memory);
  std::erase_if(*stored, [](const StoredSection &section) { return section.kind == kCost || section.kind == kMemory; });
  std::vector<Section> sections;
  add_cost(cost, &sections);
  return write_file(sections, *stored);
}

}  // namespace cairn::trace
