// What a Part holds: its classes, and what is known of each rank. Classes that are large, or joined by no others so
// far, are packed. Read by part.cc, the encoder, the decoder and Trace;
// nobody else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trace/code/packed_class.h"
#include "trace/merge/function_sums.h"
#include "trace/merge/part.h"
#include "trace/merge/site_gaps.h"
#include "trace/model/class_part.h"
#include "trace/values/rank_set.h"
#include "trace/values/values_column.h"

namespace cairn::trace {

constexpr Atom kNoBlock = -1;

struct Part::Body {
  uint32_t world = 0;
  uint32_t size = 1;
  RankSet ranks;
  std::vector<Module> modules;  ///< a process's own modules never coincide, though their content may
  std::vector<Site> sites;      ///< distinct; module is a number in `modules`, caller 1 + a lower number in `sites`
  std::vector<ClassPart> classes;
  std::vector<PackedClass> packed;  ///< other classes; none in what was read from a file
  // Along `ranks`:
  ValuesColumn hosts;
  ValuesColumn degraded;
  ValuesColumn module_maps;  ///< varints: number in `modules` of the rank's module 0, 1, …; empty if it is the same
  FoldColumn complete;
  FoldColumn wall_ns;
  FoldColumn mpi_ns;
  FoldColumn peak_memory;
  FoldColumn clock_begin;  ///< RankClock, member by member
  FoldColumn clock_drift;
  FoldColumn clock_uncertainty;
  FunctionSums sums;
  SiteGaps gaps;      ///< of `sites`
  FoldColumn offset;  ///< of the rank's block in the section `blocks` of the file that this is to become, or kNoBlock

  /// Recomputes the keys of a class; call when modules, sites or its structure changed.
  void set_key(ClassPart *part) const;
  /// Those of all classes and their streams, which a file does not hold.
  void set_keys();
};

/// A count or time as an atom; what does not fit (292 years) is cut.
constexpr Atom as_atom(uint64_t value) { return static_cast<Atom>(value > INT64_MAX ? INT64_MAX : value); }

}  // namespace cairn::trace
