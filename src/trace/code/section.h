// Section: a named run of bytes of a .cairn file (docs/format.md, "Sections"), also where classes travel: the kinds
// that there are, and how an error in one is told. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace cairn::trace {

enum class SectionKind : uint8_t {
  meta = 1,
  sites = 2,
  grammars = 3,
  columns = 4,
  rows = 5,
  order = 6,
  timing = 7,
  source = 8,
  cost = 9,
  streams = 10,
  callers = 11,
  offsets = 12,
  blocks = 13,   ///< written by the ranks: see rank_block.h
  bundles = 14,  ///< where in `blocks` the bundles begin: see bundle.h
  gpu = 15,      ///< programs, launches, warps: see src/gpu/file/launches.h
  warps = 16,    ///< what they did
  clocks = 17,
  sums = 18,         ///< see trace/merge/function_sums.h
  corrections = 19,  ///< see trace/read/corrections.h
  gaps = 20,         ///< see trace/merge/site_gaps.h
  heap = 21,         ///< see trace/model/class_heap.h
  memory = 22,
  job = 23,              ///< see RunInfo::spawned_by
  jobs = 24,             ///< see RunInfo::jobs
  packed_classes = 255,  ///< in no file: see packed_class.h
};

/// "rows"; "section 42" for kinds of later versions.
std::string section_name(uint8_t kind);

/// A section's decoded bytes and where they lie in the file.
struct SectionView {
  uint8_t kind = 0;
  ByteView bytes;
  uint64_t offset = 0;      ///< of the section in the file
  bool compressed = false;  ///< `bytes` are not the file's own
  bool damaged = false;     ///< its checksum is wrong
};

/// "section 'rows' …" with the file's byte.
Error section_error(const SectionView &section, size_t position, const std::string &what);

}  // namespace cairn::trace
