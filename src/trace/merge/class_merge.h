// Classes of two parts become one where they can.
//
// `merge_class` needs classes of one key: all that differs is values. `unify` makes two classes of one skeleton alike:
// fields that have moved out on one side move on the other; then rows are refined to the pairs that stand at the same
// places (values that coincide on some ranks only), or, where that would multiply them, the fields of the groups that
// differ move into streams (a few sizes, on each rank in another order).
//
// Cost: proportional to the terms of both grammars and the rows; nothing is expanded. No state.
#pragma once

#include <vector>

#include "base/result.h"
#include "trace/model/class_part.h"

namespace cairn::trace {

/// Moves `right` into `left`, which has the same key.
Result<void> merge_class(ClassPart *left, ClassPart right);

/// What a class keeps of each rank beside its calls.
struct OfEach {
  std::vector<StatsBlock> stats;
  FoldColumn begin_ns;
  FoldColumn first_ticket;
  ValuesColumn order;
};
/// The last step of `merge_class`: the right class's ranks, and what is kept of each, join left's.
Result<void> merge_what_is_of_each(ClassPart *left, ClassHead *head, OfEach right, const Interleave &order);

/// True: both have the same structure now, and `merge_class` may follow. False only if they have no common skeleton;
/// both are still what they were, if written in another way.
bool unify(ClassPart *left, ClassPart *right);

}  // namespace cairn::trace
