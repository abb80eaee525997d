// Scope: what all exporters need of a run: where its calls were made, which communicators there are, and which of its
// calls are wanted.
//
// Borrows the trace and the sources. Cost: the communicators (analyze/communicators.h), and the distinct places of
// calls. `place` numbers places as they are met, one thread at a time; all else is const.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/filter.h"
#include "analyze/row_access.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "export/received_sizes.h"
#include "simgrid/groups.h"
#include "trace/read/trace.h"
#include "turns/rank_loops.h"

namespace cairn::exporting {

/// A function at a place of the source.
struct Place {
  uint32_t function = 0;
  analyze::Position position;
};

/// Which calls are written: those of these ranks and functions that overlap the window.
struct Wanted {
  std::vector<uint32_t> ranks;  ///< ascending
  bool all_ranks = true;
  std::vector<char> functions;  ///< by id; empty: all
  std::optional<analyze::Filter::Window> window;

  [[nodiscard]] bool everything() const { return all_ranks && functions.empty() && !window; }
  [[nodiscard]] bool has_rank(uint32_t rank) const;
  [[nodiscard]] bool has_function(uint32_t id) const {
    return functions.empty() || (id < functions.size() && functions[id] != 0);
  }
};

struct Scope {
  const trace::Trace *trace = nullptr;
  const analyze::Sources *sources = nullptr;
  simgrid::Groups groups;
  std::vector<std::string> names;       ///< of Groups' communicators, by number
  std::vector<analyze::RowScope> rows;  ///< by class
  Wanted wanted;
  std::shared_ptr<turns::AllRepeats> repeats;     ///< of the trace
  std::shared_ptr<const ReceivedSizes> received;  ///< where they are wanted; else nullptr
  bool logical = false;                           ///< calls have no times: the n-th of a rank stands at n microseconds
  std::function<void(uint64_t calls)> progress;   ///< so many more were read; may be empty
  std::function<void(uint64_t calls)>
      matching;  ///< the same of all calls of the run, where messages are matched before

  /// Whether a call is written.
  [[nodiscard]] bool writes(const analyze::CallTime &call) const {
    const bool in_time = !wanted.window || wanted.window->overlaps(call.begin_ns, call.end_ns);
    return in_time && wanted.has_rank(call.rank) && wanted.has_function(call.function);
  }
  /// Fails where the trace cannot tell its communicators.
  static Result<Scope> of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter);

  /// The number of that place, from 0 in the order in which they are asked for.
  uint32_t place(uint32_t class_index, uint32_t function, uint32_t site);
  [[nodiscard]] const std::vector<Place> &places() const { return places_; }

 private:
  std::vector<Place> places_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint32_t> by_site_;     ///< function, module, offset
  std::vector<std::map<std::pair<uint32_t, uint32_t>, uint32_t>> by_class_;  ///< (function, site)
};

}  // namespace cairn::exporting
