// ClassPart: ranks whose thread did the same in one segment of its life: their structure once, what differs along the
// ranks as columns, what varies along time as streams.
//
// Calls of one function at one call site, nesting depth, number of fields and kind are a *group*; groups are numbered
// in order of first occurrence. The sequence of groups, the *skeleton*, is what makes ranks comparable: it stays the
// same whatever their values are. Rows tell the calls of a group apart by their values. A field that has moved out of a
// group's rows is a *stream*: its values in the order of that group's calls (the grammar projected onto them), as a
// grammar over a table of values. Ranks of a class need not agree on a stream: those that have one structure share a
// variant, whose values are columns along its ranks.
//
// Statistics are kept for what each rank's own rows were (`StatsBlock`), however rows were told apart later.
// Plain values; grammars and rows are immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "grammar/grammar.h"
#include "timing/rank_stats.h"
#include "timing/rank_times.h"
#include "trace/model/class_row.h"
#include "trace/model/slot_rows.h"
#include "trace/values/rank_set.h"
#include "trace/values/values_column.h"

namespace cairn::trace {

using GrammarPointer = std::shared_ptr<const grammar::Grammar>;

struct StreamVariant {
  RankSet ranks;
  /// The values are differences from the value before (from 0 at first), atom by atom; specials stand for themselves
  /// and leave "the value before" alone. All have the same number of atoms.
  bool differences = false;
  GrammarPointer order;            ///< over `values`, which are numbered in order of first occurrence
  std::vector<RowPointer> values;  ///< rows of one field; function, site and depth are 0
  Hash128 key;                     ///< of the form and of `order` as a sequence

  void set_key();
};

struct Stream {
  uint32_t group = 0;
  uint32_t field = 0;
  std::vector<StreamVariant> variants;  ///< their ranks are the class's, each once
};

/// The Stream::group of what became of heap segments: it is of no group, and see class_heap.h.
constexpr uint32_t kHeapGroup = UINT32_MAX;

/// Statistics of ranks whose own rows lie among the class's rows in the same way.
struct StatsBlock {
  RankSet ranks;
  std::vector<timing::RankStats> slots;
  SlotRows rows;  ///< of the class; empty if slot i is row i

  /// How many calls the slot is expected to hold: all of its rows', on all ranks. `calls` has those of each row.
  [[nodiscard]] uint64_t calls_of(size_t slot, const std::vector<uint64_t> &calls) const;
  /// The class has other rows now: `rows_of_old` says which ones each of the old rows became.
  void remap(const SlotRows &rows_of_old, size_t new_rows);
  /// Slots that are the same rows, of the class's so many, become one. For one rank only: sums of several ranks cannot
  /// be added up.
  void join_slots(size_t rows_of_class);
};

/// Values of all variants.
size_t value_count(std::span<const Stream> streams);

/// What tells classes apart, and which ranks, sites and times belong to one, whatever its calls are.
struct ClassHead {
  uint32_t thread = 0;
  uint32_t segment = 0;
  Hash128 key;                  ///< of all that makes two sequences alike without further ado; see Part::Body::set_key
  Hash128 skeleton;             ///< of what they need to have in common to become one class
  std::vector<uint32_t> sites;  ///< number in Body::sites of the class's site 1, 2, …
  RankSet ranks;
  timing::RankTimes times;  ///< of each rank that has any
};

/// The order of classes, whatever the shape of the tree.
bool stands_before(const ClassHead &a, const ClassHead &b);

struct ClassPart : ClassHead {
  GrammarPointer calls;
  std::vector<RowPointer> rows;
  std::vector<Stream> streams;    ///< by group, then field
  std::vector<StatsBlock> stats;  ///< none if the timing mode keeps no statistics
  FoldColumn begin_ns;
  FoldColumn first_ticket;
  Stream heap;         ///< what became of heap segments (class_heap.h)
  ValuesColumn order;  ///< the bytes of each member's `order` grammar; empty bytes for none
};

/// Which group each row is in.
struct RowGroups {
  explicit RowGroups(const std::vector<RowPointer> &rows);
  std::vector<uint32_t> of_row;
  std::vector<uint32_t> first_row;  ///< of each group
  [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(first_row.size()); }
};

/// The field that a counted row's count is; nothing for ordinary rows.
inline std::optional<uint32_t> count_field(const ClassRow &row) {
  if (is_call(row.kind)) return std::nullopt;
  return static_cast<uint32_t>(row.heads.size() - 1);
}

}  // namespace cairn::trace
