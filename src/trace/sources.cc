#include "trace/sources.h"

#include <set>

namespace cairn::trace {

std::optional<Source> Sources::find(const Site &site) const {
  const auto found = sources_.find({site.module, site.offset});
  if (found == sources_.end()) return std::nullopt;
  return found->second;
}

Bytes Sources::write(const std::vector<Site> &sites) const {
  std::map<std::string, uint64_t> texts;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> places;  // (function, file)
  ByteWriter strings;
  ByteWriter pairs;
  ByteWriter entries;
  const auto number = [&](const std::string &text) {
    const auto [entry, added] = texts.emplace(text, texts.size());
    if (added) strings.text(text);
    return entry->second;
  };
  uint32_t last = 0;
  std::set<std::pair<uint32_t, uint64_t>> seen;
  for (const Site &site : sites) {
    const auto found = sources_.find({site.module, site.offset});
    if (found == sources_.end() || !seen.emplace(site.module, site.offset).second) {
      entries.varint(0);
      continue;
    }
    const Source &source = found->second;
    const std::pair place(number(source.function), number(source.file));
    const auto [entry, added] = places.emplace(place, places.size());
    if (added) {
      pairs.varint(place.first);
      pairs.varint(place.second);
    }
    entries.varint(entry->second + 1);
    entries.signed_varint(int64_t{source.line} - int64_t{last});
    last = source.line;
  }
  ByteWriter out;
  out.varint(texts.size());
  out.raw(strings.view());
  out.varint(places.size());
  out.raw(pairs.view());
  out.raw(entries.view());
  return out.take();
}

Result<Sources> Sources::parse(const SectionView &section, const std::vector<Site> &sites) {
  ByteReader in(section.bytes);
  std::vector<std::string> strings(in.count());
  for (std::string &text : strings) text = in.text();
  std::vector<std::pair<uint64_t, uint64_t>> places(in.count(2));
  for (auto &[function, file] : places) {
    function = in.varint();
    file = in.varint();
    if (function >= strings.size() || file >= strings.size()) {
      return tl::unexpected(section_error(section, in.position(), "refers to something that does not exist"));
    }
  }
  Sources sources;
  uint64_t bytes = 0;
  int64_t line = 0;
  for (size_t i = 0; i < sites.size() && !in.failed(); ++i) {
    const uint64_t number = in.varint();
    if (number == 0) continue;
    const int64_t step = in.signed_varint();
    if (number > places.size() || __builtin_add_overflow(line, step, &line) || line < 0 || line > UINT32_MAX) {
      return tl::unexpected(section_error(section, in.position(), "refers to something that does not exist"));
    }
    const auto &[function, file] = places[number - 1];
    // One long name at many sites would multiply.
    bytes += strings[function].size() + strings[file].size();
    if (bytes > 1'000'000 + 1000 * static_cast<uint64_t>(in.position())) {
      return tl::unexpected(section_error(section, in.position(), "has too long names"));
    }
    sources.add(sites[i], {strings[function], strings[file], static_cast<uint32_t>(line)});
  }
  if (in.failed() || !in.at_end()) {
    return tl::unexpected(section_error(section, in.position(), "is malformed"));
  }
  return sources;
}

Result<Sources> Sources::parse_1(const SectionView &section, size_t modules) {
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
