// Loops: what ranks repeat, nested, and what a turn of each loop costs.
//
// Calls are told apart by where they were made, by function and callers, not by their arguments: a loop whose buffers
// or partners alternate is one loop. Ranks whose calls are equal in that, call by call, are one *kind*: of a stencil
// the inner ranks are one, each edge another. Loops are found in a kind's grammar (loop_tree.h), nothing is expanded;
// but where that leaves many, since turns differ in what they do, all calls of a rank are gone through
// (uneven_loops.h).
//
// Which calls, bytes and times belong to which loop: those of one place are shared out evenly among the times that it
// is come to. So a place that is called in two loops has the same mean in both.
//
// The time step is the loop that most calls are made in, if that is a quarter of all; of nested ones the inner one, as
// long as that has most of the outer one's calls and of its places: a program that prints in each tenth step has a loop
// of ten steps around its steps. ScalaTrace's time-step loops (Noeth et al., JPDC 2009, section 5.3) are these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/filter.h"
#include "analyze/loop_tree.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// Where calls are made, and what they took there on all ranks of the kind together.
struct LoopPlace {
  uint32_t function = 0;
  Position position;
  std::vector<Position> callers;  ///< the innermost first, where call stacks were kept
  uint64_t visits = 0;            ///< how often one rank comes to it; as its polls are counted, `calls` may be more
  uint64_t calls = 0;
  uint64_t bytes = 0;  ///< of the calls whose size is known
  uint64_t unsized_calls = 0;
  bool timed = false;
  uint64_t time_ns = 0;
};

/// A call that is made some times in a row, or a loop.
struct Loop {
  const LoopItem *item = nullptr;
  bool is_step = false;
  uint64_t further_turns = 0;  ///< of the time step: right behind the loop, with more calls than the others
  double calls = 0;            ///< of all ranks of the kind, as the others
  double bytes = 0;
  double unsized_calls = 0;
  std::optional<double> time_ns;  ///< in MPI
  std::vector<Loop> body;
  uint64_t left_out = 0;   ///< of `body`, by `shorten`
  bool shortened = false;  ///< here or further in

  [[nodiscard]] bool is_call() const { return body.empty(); }
};

struct KindOfRank {
  std::vector<uint32_t> ranks;  ///< ascending
  uint32_t thread = 0;
  std::vector<LoopPlace> places;  ///< by LoopItem::symbol
  std::vector<LoopItem> items;    ///< of one rank
  Loop all;                       ///< its body: `items`
};

/// Which kinds there are, and where they call MPI.
class LoopFinder {
 public:
  LoopFinder(const trace::Trace &trace, const Sources &sources);

  /// Those with ranks and threads that the filter takes, the one of most ranks first, of equal ones the one of the
  /// lowest rank. A kind is whole, whatever ranks the filter takes. Their places and loops are not looked for.
  [[nodiscard]] std::vector<KindOfRank> kinds(const Filter &filter) const;
  /// These. An error if the calls are too irregular for that, or if times cannot be read.
  Result<void> find(KindOfRank *kind) const;
  /// The same, without calls, bytes and times: of the places only the visits, and `all` stays empty. Reads one rank's
  /// grammars and nothing else; expands up to 2 million calls where turns differ.
  Result<void> find_structure(KindOfRank *kind) const;
  /// The place of each row of a class, as LoopItem::symbol numbers them.
  [[nodiscard]] const std::vector<uint32_t> &places_of(uint32_t class_index) const { return by_class_[class_index]; }

 private:
  const trace::Trace &trace_;
  const Sources &sources_;
  bool threads_ = false;                         ///< some rank has several
  std::vector<LoopPlace> places_;                ///< of all classes
  std::vector<std::vector<uint32_t>> by_class_;  ///< the place of each row
};

/// Where a loop lies, as far as callers are known: in the function from which its calls part. "solve.c:12-40 in
/// solve()"; where that is several functions, as callers are not known or the compiler made one of them, where its
/// first call parts: "halo.c:7 in exchange() and main()", "halo.c:7 in exchange() and 2 other functions"; "" if nothing
/// is known.
std::string text_of(const Loop &loop, const std::vector<LoopPlace> &places);
/// Leaves of all that is in a loop the `most` loops and calls with the most calls, in their order; where a loop stays,
/// so does what has the most calls in it, however many there are by then.
void shorten(Loop *loop, size_t most);
/// An item with what is in it, and none of the numbers: what text_of needs.
Loop shape_of(const LoopItem &item);

}  // namespace cairn::analyze
