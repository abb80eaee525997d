// WindowCall: what a call does with a window, as far as faults of one-sided access are looked for (windows.h). By the
// values of the row, and what the rank's calls said of its datatypes.
//
// Plain values; `window_call` costs a look at the row's fields.
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/messages.h"
#include "analyze/row_access.h"
#include "analyze/window_calls.h"
#include "objects/rank_layouts.h"
#include "trace/model/record.h"

namespace cairn::check {

struct WindowCall {
  analyze::WindowRole role = analyze::WindowRole::none;
  analyze::HandleName window;
  // Of what it makes.
  std::optional<int64_t> size;  ///< bytes; nullopt: it has no bounds that are known
  int64_t unit = 1;             ///< bytes of a displacement
  /// Of a fence: accesses may follow until the next one, or until a lock or MPI_Win_start (`locks`).
  bool opens = true;
  // Of a lock, an unlock or a flush.
  std::optional<int64_t> whose;  ///< part of the window; nullopt: all
  bool exclusive = false;        ///< MPI_LOCK_EXCLUSIVE
  bool local = false;            ///< a flush that completes accesses here, and not at the target
  // Of access.
  int64_t target = 0;                           ///< rank in the window's communicator
  int64_t displacement = 0;                     ///< in units of the target
  bool fetches = false;                         ///< what was there: complete here, it is complete at the target
  bool pending = false;                         ///< the call never returned: MPI may have refused it
  bool by_request = false;                      ///< a request says when it is complete here
  const objects::TypeLayout *layout = nullptr;  ///< at the target; not empty
};
/// nullopt: the call does nothing of that kind, failed, or it is not known where; or it is no access and never
/// returned.
std::optional<WindowCall> window_call(const trace::Row &row, const analyze::RowScope &scope,
                                      const objects::RankLayouts &layouts);

/// A call that reaches into the memory of another process.
struct WindowAccess {
  WindowCall what;
  analyze::CallTime call;
  [[nodiscard]] bool puts() const { return what.role == analyze::WindowRole::puts; }
  /// In bytes of the target's part, whose displacements are of `unit` bytes.
  [[nodiscard]] int64_t begin(int64_t unit) const;
  [[nodiscard]] int64_t end(int64_t unit) const;
};

/// "gets", "puts" or "accumulates".
const char *verb_of(analyze::WindowRole role);

}  // namespace cairn::check
