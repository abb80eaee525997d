// Sections: a Part's body as named runs of bytes (docs/format.md, "Sections"). In a .cairn file, classes share what is
// equal: row shapes, rows, columns, values, grammars. In a spool and on the way up the reduction tree, where they are
// still to be merged, each is packed by itself (packed_class.h).
//
// `decode` trusts nothing: it answers with an Error that names section and byte, and allocates in proportion to the
// bytes it was given. No state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/part_body.h"

namespace cairn::trace {

enum class SectionKind : uint8_t {
  meta = 1,
  sites = 2,
  grammars = 3,
  columns = 4,
  rows_1 = 5,  ///< of version 1
  order = 6,
  timing = 7,
  source_1 = 8,  ///< of version 1
  cost = 9,
  streams = 10,
  callers = 13,
  rows = 11,
  source = 12,
  offsets = 14,
  blocks = 15,           ///< written by the ranks: see rank_block.h
  gpu = 16,              ///< programs, launches, warps: see src/gpu/launches.h
  warps = 17,            ///< what they did
  bundles = 18,          ///< where in `blocks` the bundles begin: see bundle.h
  packed_classes = 255,  ///< in no file: see packed_class.h
};

/// "rows"; "section 42" for kinds of later versions.
std::string section_name(uint8_t kind);

struct Section {
  SectionKind kind;
  Bytes bytes;
  bool packed = false;  ///< compressed already, not worth trying
  int level = 0;        ///< of its compression; 0: by its size
};

/// Sections that would be empty are left out.
/// `with_blocks`: the blocks that the ranks' offsets lead to are there, or may be.
/// Packed classes are opened one at a time; fails where one that was received is malformed.
Result<std::vector<Section>> encode(const Part::Body &body, const RunInfo &run, bool with_blocks);
/// What travels: classes packed.
std::vector<Section> encode_packed(const Part::Body &body);
Section cost_section(const MergeCost &cost);
Section bundles_section(uint64_t begin);

/// A section's decoded bytes and where they lie in the file.
struct SectionView {
  uint8_t kind = 0;
  ByteView bytes;
  uint64_t offset = 0;      ///< of the section in the file
  bool compressed = false;  ///< `bytes` are not the file's own
};

struct Decoded {
  std::unique_ptr<Part::Body> body;
  RunInfo run;
  std::optional<uint64_t> bundles;  ///< where in the blocks they begin
};
Result<Decoded> decode(const std::vector<SectionView> &sections);
/// Packed classes are not looked into.
Result<Decoded> decode_packed(const std::vector<SectionView> &sections);

/// "section 'rows' …" with the file's byte.
Error section_error(const SectionView &section, size_t position, const std::string &what);

}  // namespace cairn::trace
