// What an expression does, as far as its syntax tells. No edits, no state.
#pragma once

#include "gpu/instrument/cursor.h"

namespace cairn::instrument {

/// Calls, reads or writes memory, or changes something: on the right of && and || the compiler has to branch around it.
bool needs_branch(CXCursor expression);
/// Evaluating it twice could do something twice. Constructors of dim3 and constexpr functions of values do not.
bool has_side_effects(CXCursor expression);
/// Known to the compiler, at the latest when a template is instantiated: a decision on it is none.
bool is_constant(CXCursor expression);
/// `0` or `NULL`, which behind a comma would no longer be a null pointer.
bool is_null_constant(const CXCursor &expression);

}  // namespace cairn::instrument
