// A Part as bytes: on its way through the tree (serialise, parse), and as a whole file.
#include <vector>

#include "trace/file.h"
#include "trace/part.h"
#include "trace/part_body.h"
#include "trace/sections.h"

namespace cairn::trace {

Bytes Part::serialise() const {
  ByteWriter out;
  out.byte(kFormatVersion);
  if (body_->ranks.empty()) return out.take();
  for (const Section &section : encode(*body_, {}, false)) {
    out.byte(static_cast<uint8_t>(section.kind));
    out.blob(section.bytes);
  }
  return out.take();
}

Result<Part> Part::parse(ByteView bytes) {
  ByteReader in(bytes);
  if (in.byte() != kFormatVersion || in.failed()) {
    return tl::unexpected(Error{ErrorKind::unreadable, "a part has an unknown version", {}, 0, {}});
  }
  if (in.at_end()) return Part();
  std::vector<SectionView> sections;
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
  Result<Decoded> decoded = decode(sections);
  if (!decoded) return tl::unexpected(decoded.error());
  return Part(std::move(decoded->body));
}

Bytes Part::to_file(const RunInfo &run) const { return write_file(encode(*body_, run, true)); }

Bytes with_merge_cost(ByteView file, const MergeCost &cost) {
  Result<std::vector<StoredSection>> stored = read_file(file);
  if (!stored) return {file.begin(), file.end()};
  constexpr auto kCost = static_cast<uint8_t>(SectionKind::cost);
  std::erase_if(*stored, [](const StoredSection &section) { return section.kind == kCost; });
  return write_file({cost_section(cost)}, *stored);
}

}  // namespace cairn::trace
