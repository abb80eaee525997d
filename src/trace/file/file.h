// The container of a .cairn file: header, sections, directory, footer (docs/format.md). Knows nothing of what
// the sections hold.
//
// `read_file` checks everything that can be checked without understanding the content: magic, version, that directory
// and sections fill the file without gaps, every checksum, every decoded size. No state, no OS calls.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/file/sections.h"

namespace cairn::trace {

constexpr uint16_t kFormatVersion = 1;
constexpr size_t kHeaderBytes = 12;
constexpr size_t kFooterBytes = 16;
/// What every trace begins with.
std::string_view file_magic();
/// Whether it is the beginning of that, or of what earlier formats began with.
bool is_magic(ByteView front);

/// Stands in the place of a codec: bytes in blocks that each hold a checksum, written in place by many ranks. Such a
/// section is the file's first. It may be too large for memory: `read_file` can do without it.
constexpr uint8_t kInBlocks = 3;

/// A section as it lies in the file.
struct StoredSection {
  uint8_t kind = 0;
  uint8_t codec = 0;
  uint64_t decoded_size = 0;
  ByteView bytes;  ///< nothing if they are absent
  uint64_t offset = 0;
  /// What the directory says, where that is wrong. It is written again with them, so that no copy looks sound.
  std::optional<uint32_t> wrong_checksum = {};
};

/// A file with these sections, each under the codec that makes it smallest, followed by `stored` as they are; blocks
/// come before all others. Those of absent blocks' bytes, which belong after the header, are missing in what it gives.
Bytes write_file(const std::vector<Section> &sections, const std::vector<StoredSection> &stored = {});

/// The sections in the order of the file, as views into `file`, from which `absent` bytes after the header, those of
/// its blocks, were left out.
enum class Damage : uint8_t {
  refused,
  /// Of a section `timing` that is not compressed, a checksum that is wrong is told: times have checks of their own.
  may_be_in_times,
};
Result<std::vector<StoredSection>> read_file(ByteView file, uint64_t absent = 0, Damage damage = Damage::refused);
/// Of a section that has one.
Error wrong_checksum(const StoredSection &section);

/// Of a section, or of a block: half a hash finds all errors but one in four thousand million.
uint32_t checksum(ByteView bytes);

/// Adds the bytes of each section, but of one in blocks, to what stands under its name. Gives their sum.
uint64_t count_sections(const std::vector<StoredSection> &stored, std::map<std::string, uint64_t> *sizes);

/// A section, which is not in blocks, decompressed: a view into `*decoded`, or into the file if it needs none of that.
/// Memory for it is taken from `allowance`.
Result<SectionView> decompressed(const StoredSection &section, Bytes *decoded, Allowance *allowance);

/// A section of `size` bytes in blocks that lie elsewhere.
StoredSection absent_blocks(uint64_t size);
/// How many bytes the directory says there are in blocks; 0 if it says nothing of them.
uint64_t blocks_in(ByteView directory);

}  // namespace cairn::trace
