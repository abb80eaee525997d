#include "trace/file/file.h"

#include <algorithm>
#include <array>

#include "base/as_size.h"
#include "base/hash.h"
#include "codec/codec.h"

namespace cairn::trace {
namespace {

// The high bit and the line ends show transfers that were not binary; as PNG does it.
constexpr std::array<uint8_t, 8> kMagic = {0x89, 'c', 'a', 'i', 'r', 'n', '\r', '\n'};
// So began what was written before the first release, in formats that numbered themselves 1 to 5 as well.
constexpr std::array<uint8_t, 8> kMagicBefore = {0x89, 'C', 'A', 'I', 'R', 'N', '\r', '\n'};
constexpr std::array<uint8_t, 4> kEnd = {'n', 'r', 'i', 'a'};
// The first version of Cairn that reads kFormatVersion.
constexpr uint8_t kReaderMajor = 0;
constexpr uint8_t kReaderMinor = 1;
constexpr std::array<uint8_t, 2> kCodecs = {codec::kZstd, codec::kNumbers};
// Level 19 takes some milliseconds on what regular programs leave. Past that, time matters more: on sections of 16 to
// 64 KiB it gains 3 % over level 9 in several times its time, in which all other ranks wait.
constexpr size_t kSmall = 16384;
constexpr size_t kMedium = 65536;
constexpr int kSmallLevel = 19;
constexpr int kMediumLevel = 9;
constexpr int kLargeLevel = 3;

int level_for(size_t bytes) { return bytes <= kSmall ? kSmallLevel : bytes <= kMedium ? kMediumLevel : kLargeLevel; }

Error broken(std::string message, uint64_t offset, std::string hint) {
  return {ErrorKind::unreadable, std::move(message), {}, offset, std::move(hint)};
}

const char *const kCopyAgain = "the file is damaged or not complete: copy it again or record again";

void directory_entry(uint8_t kind, uint8_t codec, ByteView stored, uint64_t decoded_size, uint32_t hash,
                     ByteWriter *out) {
  out->byte(kind);
  out->byte(codec);
  out->varint(stored.size());
  if (codec != codec::kRaw) out->varint(decoded_size);
  out->fixed32(hash);
}

bool in_blocks(const StoredSection &section) { return section.codec == kInBlocks; }

bool begins_with(ByteView file, const std::array<uint8_t, 8> &magic) {
  return std::equal(magic.begin(), magic.begin() + static_cast<ptrdiff_t>(std::min(file.size(), magic.size())),
                    file.begin());
}

}  // namespace

std::string_view file_magic() { return {reinterpret_cast<const char *>(kMagic.data()), kMagic.size()}; }

bool is_magic(ByteView front) { return begins_with(front, kMagic) || begins_with(front, kMagicBefore); }

uint32_t checksum(ByteView bytes) { return static_cast<uint32_t>(hash64(bytes)); }

Bytes write_file(const std::vector<Section> &sections, const std::vector<StoredSection> &stored) {
  ByteWriter out;
  const auto blocks = std::find_if(stored.begin(), stored.end(), in_blocks);
  out.raw(kMagic);
  out.byte(static_cast<uint8_t>(kFormatVersion));
  out.byte(static_cast<uint8_t>(kFormatVersion >> 8));
  out.byte(kReaderMajor);
  out.byte(kReaderMinor);
  ByteWriter directory;
  directory.varint(sections.size() + stored.size());
  if (blocks != stored.end()) {
    directory.byte(blocks->kind);
    directory.byte(kInBlocks);
    directory.varint(blocks->decoded_size);
    out.raw(blocks->bytes);
  }
  for (const Section &section : sections) {
    const auto kind = static_cast<uint8_t>(section.kind);
    if (section.packed) {
      directory_entry(kind, codec::kRaw, section.bytes, section.bytes.size(), checksum(section.bytes), &directory);
      out.raw(section.bytes);
      continue;
    }
    const codec::Encoded encoded =
        codec::smallest(section.bytes, kCodecs, section.level != 0 ? section.level : level_for(section.bytes.size()));
    directory_entry(kind, encoded.codec, encoded.bytes, section.bytes.size(), checksum(encoded.bytes), &directory);
    out.raw(encoded.bytes);
  }
  for (const StoredSection &section : stored) {
    if (in_blocks(section)) continue;
    directory_entry(section.kind, section.codec, section.bytes, section.decoded_size,
                    section.wrong_checksum.value_or(checksum(section.bytes)), &directory);
    out.raw(section.bytes);
  }
  out.raw(directory.view());
  out.fixed32(static_cast<uint32_t>(directory.size()));
  out.fixed64(hash64(directory.view()));
  out.raw(kEnd);
  return out.take();
}

Result<SectionView> decompressed(const StoredSection &section, Bytes *decoded, Allowance *allowance) {
  SectionView view{section.kind, section.bytes, section.offset, section.codec != codec::kRaw,
                   section.wrong_checksum.has_value()};
  if (!view.compressed) return view;
  constexpr uint64_t kOnTheWay = 3;  // itself and what codec::kNumbers makes first
  if (!allowance->take(section.decoded_size, kOnTheWay)) {
    return tl::unexpected(section_error(view, 0, "holds more than a file of so few bytes may"));
  }
  if (!codec::decode(section.codec, section.bytes, section.decoded_size, decoded)) {
    return tl::unexpected(section_error(view, 0, "cannot be decompressed"));
  }
  view.bytes = *decoded;
  return view;
}

StoredSection absent_blocks(uint64_t size) {
  return {static_cast<uint8_t>(SectionKind::blocks), kInBlocks, size, {}, kHeaderBytes};
}

uint64_t blocks_in(ByteView directory) {
  ByteReader in(directory);
  in.varint();
  in.byte();
  const bool blocks = in.byte() == kInBlocks;
  const uint64_t size = in.varint();
  return blocks && !in.failed() ? size : 0;
}

Error wrong_checksum(const StoredSection &section) {
  return broken("section '" + section_name(section.kind) + "' has a wrong checksum", section.offset, kCopyAgain);
}

Result<std::vector<StoredSection>> read_file(ByteView file, uint64_t absent, Damage damage) {
  if (file.size() >= kMagic.size() && begins_with(file, kMagicBefore)) {
    return tl::unexpected(broken("the trace was written before Cairn's first release", 0,
                                 "record again, or read it with the Cairn that wrote it"));
  }
  if (file.empty() || !begins_with(file, kMagic)) {
    return tl::unexpected(broken("this is not a Cairn trace", 0, "give a .cairn file that 'cairn record' wrote"));
  }
  if (file.size() < kHeaderBytes) {
    return tl::unexpected(broken("the trace is cut short within its header", file.size(), kCopyAgain));
  }
  const unsigned version = file[8] | static_cast<unsigned>(file[9]) << 8;
  if (version > kFormatVersion) {
    const std::string reader = std::to_string(file[10]) + "." + std::to_string(file[11]);
    return tl::unexpected(broken("the trace has format version " + std::to_string(version) +
                                     ", this Cairn reads up to " + std::to_string(kFormatVersion),
                                 8, "read it with Cairn " + reader + " or newer"));
  }
  if (version == 0) return tl::unexpected(broken("the trace has format version 0, which never existed", 8, kCopyAgain));
  // They advise readers that are too old for the version, and nothing else has a checksum over them.
  if (file[10] != kReaderMajor || file[11] != kReaderMinor) {
    return tl::unexpected(broken(
        "the header is damaged: it names another Cairn than the first that reads version " + std::to_string(version),
        10, kCopyAgain));
  }
  if (file.size() < kHeaderBytes + kFooterBytes || !std::equal(kEnd.begin(), kEnd.end(), file.end() - kEnd.size())) {
    return tl::unexpected(broken("the trace is cut short: its end is missing", file.size(), kCopyAgain));
  }
  const size_t footer = file.size() - kFooterBytes;
  ByteReader tail(file.subspan(footer));
  const uint64_t directory_size = tail.fixed32();
  const uint64_t directory_hash = tail.fixed64();
  if (directory_size > footer - kHeaderBytes) {
    return tl::unexpected(broken("the directory's length is wrong", footer + absent, kCopyAgain));
  }
  const ByteView entries = file.subspan(footer - as_size(directory_size), as_size(directory_size));
  const uint64_t directory = footer - directory_size + absent;
  if (hash64(entries) != directory_hash) {
    return tl::unexpected(broken("the directory's checksum is wrong", directory, kCopyAgain));
  }
  ByteReader in(entries);
  std::vector<StoredSection> sections(in.count(3));
  uint64_t offset = kHeaderBytes;
  uint64_t skipped = 0;  // absent bytes before `offset`
  for (StoredSection &section : sections) {
    const uint64_t entry = directory + in.position();
    section.kind = in.byte();
    section.codec = in.byte();
    const uint64_t size = in.varint();
    const bool blocks = in_blocks(section);
    section.decoded_size = section.codec == codec::kRaw || blocks ? size : in.varint();
    const uint32_t hash = blocks ? 0 : in.fixed32();
    const std::string name = "section '" + section_name(section.kind) + "'";
    if (in.failed() || size > directory - offset) {
      return tl::unexpected(broken("the directory's entry for " + name + " is wrong", entry, kCopyAgain));
    }
    section.offset = offset;
    const bool first = &section == sections.data();
    if ((blocks && !first) || (first && absent != 0 && !(blocks && size == absent))) {
      return tl::unexpected(broken("the directory's entry for " + name + " is wrong", entry, kCopyAgain));
    }
    if (blocks && absent != 0) {
      skipped = absent;
    } else {
      section.bytes = file.subspan(as_size(offset - skipped), as_size(size));
    }
    if (!blocks && checksum(section.bytes) != hash) {
      const bool of_times = section.kind == static_cast<uint8_t>(SectionKind::timing) && section.codec == codec::kRaw;
      if (!of_times || damage == Damage::refused) return tl::unexpected(wrong_checksum(section));
      section.wrong_checksum = hash;
    }
    const bool again = std::any_of(sections.data(), &section,
                                   [&section](const StoredSection &other) { return other.kind == section.kind; });
    if (again) return tl::unexpected(broken(name + " is there twice", entry, kCopyAgain));
    if (!blocks && codec::find(section.codec) == nullptr) {
      return tl::unexpected(
          broken(name + " has the unknown codec " + std::to_string(section.codec), entry, kCopyAgain));
    }
    if (section.decoded_size > codec::decoded_bound(size) && section.codec != codec::kRaw && !blocks) {
      return tl::unexpected(broken(name + " claims an impossible size", entry, kCopyAgain));
    }
    offset += size;
  }
  if (in.failed() || !in.at_end() || offset != directory) {
    return tl::unexpected(broken("the directory and the sections do not fill the file", directory, kCopyAgain));
  }
  return sections;
}

uint64_t count_sections(const std::vector<StoredSection> &stored, std::map<std::string, uint64_t> *sizes) {
  uint64_t sum = 0;
  for (const StoredSection &section : stored) {
    if (in_blocks(section)) continue;
    (*sizes)[section_name(section.kind)] += section.bytes.size();
    sum += section.bytes.size();
  }
  return sum;
}

}  // namespace cairn::trace
