// For tests: traces that no writer wrote, behind checksums that are right, so that damage reaches the decoders.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/bytes.h"
#include "codec/codec.h"
#include "trace/file/file.h"

namespace cairn::trace {

/// The sections of a sound file, decompressed, but for those in blocks.
inline std::vector<Section> plain_sections(const Bytes &file) {
  std::vector<Section> sections;
  const std::vector<StoredSection> all = *read_file(file);
  for (const StoredSection &stored : all) {
    if (stored.codec == kInBlocks) continue;
    Section section{static_cast<SectionKind>(stored.kind), {}};
    codec::decode(stored.codec, stored.bytes, stored.decoded_size, &section.bytes);
    sections.push_back(std::move(section));
  }
  return sections;
}

/// Up to three changes: a byte, a bit, the end cut off, a number put in or a byte left out.
inline void mutate(Bytes *bytes, std::mt19937_64 *random) {
  for (uint64_t n = 1 + (*random)() % 3; n > 0; --n) {
    const size_t at = bytes->empty() ? 0 : (*random)() % bytes->size();
    switch ((*random)() % 5) {
      case 0:
        if (!bytes->empty()) (*bytes)[at] = static_cast<uint8_t>((*random)());
        break;
      case 1:
        if (!bytes->empty()) (*bytes)[at] = static_cast<uint8_t>((*bytes)[at] ^ 1U << ((*random)() % 8));
        break;
      case 2:
        bytes->resize(at);
        break;
      case 3: {  // a large number
        uint8_t varint[kMaxVarint];
        const uint8_t *end = put_varint(varint, (*random)() >> ((*random)() % 64));
        bytes->insert(bytes->begin() + static_cast<ptrdiff_t>(at), static_cast<const uint8_t *>(varint), end);
        break;
      }
      default:
        if (!bytes->empty()) bytes->erase(bytes->begin() + static_cast<ptrdiff_t>(at));
    }
  }
}

/// A sound file with one section changed.
inline Bytes mutant_of(const Bytes &file, std::mt19937_64 *random) {
  std::vector<Section> sections = plain_sections(file);
  const std::vector<StoredSection> all = *read_file(file);
  std::vector<StoredSection> in_blocks;
  for (const StoredSection &each : all) {
    if (each.codec == kInBlocks) in_blocks.push_back(each);
  }
  mutate(&sections[(*random)() % sections.size()].bytes, random);
  for (Section &section : sections) section.packed = true;  // zstd -19 would take most of the time
  return write_file(sections, in_blocks);
}

}  // namespace cairn::trace
