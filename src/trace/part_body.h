// What a Part holds. Structure (grammars), rows, columns and timing are kept apart, each shared by pointer where it is
// the same, so that later work can refine rows, move fields into streams along time, or share across classes by content
// without touching the others. Read by part.cc, the encoder, the decoder and Trace; nobody else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "grammar/grammar.h"
#include "trace/class_row.h"
#include "trace/part.h"
#include "trace/rank_set.h"
#include "trace/rank_stats.h"
#include "trace/values_column.h"

namespace cairn::trace {

using GrammarPointer = std::shared_ptr<const grammar::Grammar>;

/// Ranks whose thread `thread` did the same in segment `segment` of its life. Everything along ranks has an element for
/// each member, in the order of `ranks`.
struct ClassPart {
  uint32_t thread = 0;
  uint32_t segment = 0;
  Hash128 key;  ///< of all that makes two sequences one class; see `class_key`
  GrammarPointer calls;
  std::vector<uint32_t> sites;  ///< number in Body::sites of the class's site 1, 2, …
  RankSet ranks;
  std::vector<RowPointer> rows;
  std::vector<RankStats> stats;                      ///< one a row, or none
  std::vector<std::pair<uint32_t, Bytes>> lossless;  ///< (rank, timing stream), ascending, without empty ones
  FoldColumn begin_ns;
  FoldColumn first_ticket;
  ValuesColumn order;  ///< the bytes of each member's `order` grammar; empty bytes for none
};

struct Part::Body {
  uint32_t world = 0;
  uint32_t size = 1;
  RankSet ranks;
  std::vector<Module> modules;  ///< a process's own modules never coincide, though their content may
  std::vector<Site> sites;      ///< distinct; module is a number in `modules`
  std::vector<ClassPart> classes;
  // Along `ranks`:
  ValuesColumn hosts;
  ValuesColumn degraded;
  ValuesColumn module_maps;  ///< varints: number in `modules` of the rank's module 0, 1, …; empty if it is the same
  FoldColumn complete;
  FoldColumn wall_ns;
  FoldColumn mpi_ns;
  FoldColumn peak_memory;

  /// Recomputes the key of a class; call when modules, sites or its structure changed.
  void set_key(ClassPart *part) const;
};

/// A count or time as an atom; what does not fit (292 years) is cut.
constexpr Atom as_atom(uint64_t value) { return static_cast<Atom>(value > INT64_MAX ? INT64_MAX : value); }

}  // namespace cairn::trace
