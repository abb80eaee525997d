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
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/code/section.h"
#include "trace/merge/part_body.h"

namespace cairn::trace {

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
/// What is told of the cost of a merge: one section or two.
void add_cost(const MergeCost &cost, std::vector<Section> *sections);
Section bundles_section(uint64_t begin);

struct Decoded {
  std::unique_ptr<Part::Body> body;
  RunInfo run;
  std::optional<uint64_t> bundles;        ///< where in the blocks they begin
  std::optional<size_t> times_lost_from;  ///< of this class on: the section was damaged between streams
  /// Then the class and rank of the stream before: it may have been cut short, or go on in what is none of its own.
  std::optional<std::pair<size_t, uint32_t>> last_times;
};
/// What it makes is taken from `allowance`.
Result<Decoded> decode(const std::vector<SectionView> &sections, Allowance *allowance);
/// Packed classes are not looked into.
Result<Decoded> decode_packed(const std::vector<SectionView> &sections);

}  // namespace cairn::trace
