// Kinds: what a timeline tells apart: the sorts of calls, the functions, the call sites, or what its caller says. Each
// row of each class has a kind; kind 0 is the time outside MPI.
//
// Plain value. Cost: the rows of all classes, and for call sites the names of each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyze/sources.h"
#include "trace/read/events.h"
#include "trace/read/trace.h"

namespace cairn::timeline {

struct Kinds {
  /// At most so many, with the one outside MPI: what more there are is "other", the last one.
  static constexpr size_t kMost = 256;
  std::vector<std::string> names;            ///< the first is "outside MPI"
  std::vector<std::vector<uint8_t>> of_row;  ///< by class and row
  [[nodiscard]] size_t count() const { return names.size(); }
};

enum class By : uint8_t { sort, function, site };

/// By sort: as Doing numbers them. Functions and sites: those that stand most often in the sequences first, all ranks
/// together. A site is a function called at one place of the source, whatever its callers.
Kinds kinds_of(const trace::Trace &trace, const analyze::Sources &sources, By by);

/// `kind` gives the number of a kind, below `names.size()`, from 1 on; other numbers are "other", which is added where
/// there are some. `names[0]` is replaced.
using KindOfRow = std::function<size_t(uint32_t class_index, const trace::Structure::RowHead &)>;
Kinds kinds_of(const trace::Trace &trace, std::vector<std::string> names, const KindOfRow &kind);

}  // namespace cairn::timeline
