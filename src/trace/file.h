// The container of a .cairn file: header, sections, directory, footer (docs/format.md). Knows nothing of what
// the sections hold.
//
// `read_file` checks everything that can be checked without understanding the content: magic, version, that directory
// and sections fill the file without gaps, every checksum, every decoded size. No state, no OS calls.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/sections.h"

namespace cairn::trace {

constexpr uint16_t kFormatVersion = 2;
constexpr size_t kHeaderBytes = 12;
constexpr size_t kFooterBytes = 16;

/// A section as it lies in the file.
struct StoredSection {
  uint8_t kind = 0;
  uint8_t codec = 0;
  uint64_t decoded_size = 0;
  ByteView bytes;
  uint64_t offset = 0;
};

/// A file with these sections, each under the codec that makes it smallest, followed by `stored` as they are.
Bytes write_file(const std::vector<Section> &sections, const std::vector<StoredSection> &stored = {});

/// The sections in the order of the file, as views into `file`.
Result<std::vector<StoredSection>> read_file(ByteView file);

}  // namespace cairn::trace
