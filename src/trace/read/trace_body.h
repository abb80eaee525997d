// What an open Trace holds, for the files of this folder. Nobody else includes it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/file/block_source.h"
#include "trace/file/file.h"
#include "trace/merge/part_body.h"
#include "trace/model/rank_classes.h"
#include "trace/read/sources.h"
#include "trace/read/trace.h"

namespace cairn::trace {

struct Trace::Body {
  std::string path;
  Bytes file;
  uint64_t absent = 0;                  ///< bytes of blocks that are not in `file`
  std::vector<StoredSection> stored;    ///< views into `file`
  std::unique_ptr<BlockSource> blocks;  ///< nullptr if there are none
  std::unique_ptr<Part::Body> part;
  size_t own_classes = 0;             ///< of its classes; those of bundles follow
  std::optional<uint64_t> bundles;    ///< where they begin
  std::optional<Error> damage;        ///< what the section `timing` has
  size_t times_lost_from = SIZE_MAX;  ///< of its own classes: streams of this one and later ones may be lost
  std::optional<std::pair<size_t, uint32_t>> last_times;  ///< as in Decoded
  std::map<std::string, uint64_t> in_bundles;             ///< bytes by section
  RankClasses places;
  RunInfo run;
  Axis axis;
  Sources sources;
  mutable std::atomic<uint64_t> calls_given = 0;

  [[nodiscard]] Result<void> open_bundles(uint64_t begin, const WantedBundles &wanted, Allowance *allowance);
  [[nodiscard]] Error times_error(SectionKind kind, const std::string &what) const;
  /// nullptr if the rank has none.
  [[nodiscard]] Result<std::shared_ptr<const BlockSource::Block>> block_of(uint32_t rank) const;
  /// The rank's own numbers of modules in static addresses become numbers in Trace::modules().
  void number_modules(Row *row, uint32_t rank) const;
};

/// What the class `index`, which must exist, is made of.
inline const ClassPart &class_part_of(const Trace &trace, uint32_t index) { return trace.body().part->classes[index]; }

inline bool is_gpu(const StoredSection &section) {
  const auto kind = static_cast<SectionKind>(section.kind);
  return kind == SectionKind::gpu || kind == SectionKind::warps;
}

}  // namespace cairn::trace
