#include "trace/sources.h"

namespace cairn::trace {

std::optional<Source> Sources::find(const Site &site) const {
  const auto found = sources_.find({site.module, site.offset});
  if (found == sources_.end()) return std::nullopt;
  return found->second;
}

Bytes Sources::write() const {
  std::map<std::string, uint64_t> numbers;
  ByteWriter strings;
  ByteWriter entries;
  const auto number = [&](const std::string &text) {
    const auto [entry, added] = numbers.emplace(text, numbers.size());
    if (added) strings.text(text);
    return entry->second;
  };
  for (const auto &[site, source] : sources_) {
    entries.varint(site.first);
    entries.varint(site.second);
    entries.varint(number(source.function));
    entries.varint(number(source.file));
    entries.varint(source.line);
  }
  ByteWriter out;
  out.varint(numbers.size());
  out.raw(strings.view());
  out.varint(sources_.size());
  out.raw(entries.view());
  return out.take();
}

Result<Sources> Sources::parse(const SectionView &section, size_t modules) {
  ByteReader in(section.bytes);
  std::vector<std::string> strings(in.count());
  for (std::string &text : strings) text = in.text();
  const size_t count = in.count(5);
  Sources sources;
  uint64_t bytes = 0;
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t module = in.varint();
    const uint64_t offset = in.varint();
    const uint64_t function = in.varint();
    const uint64_t file = in.varint();
    const uint64_t line = in.varint();
    if (module >= modules || function >= strings.size() || file >= strings.size() || line > UINT32_MAX) {
      return tl::unexpected(section_error(section, in.position(), "refers to something that does not exist"));
    }
    // One long name at many sites would multiply.
    bytes += strings[function].size() + strings[file].size();
    if (bytes > 1'000'000 + 1000 * static_cast<uint64_t>(in.position())) {
      return tl::unexpected(section_error(section, in.position(), "has too long names"));
    }
    sources.add({static_cast<uint32_t>(module), offset},
                {strings[function], strings[file], static_cast<uint32_t>(line)});
  }
  if (in.failed() || !in.at_end()) {
    return tl::unexpected(section_error(section, in.position(), "is malformed"));
  }
  return sources;
}

}  // namespace cairn::trace
