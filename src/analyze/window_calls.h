// WindowCalls: what calls do with windows, the memory that other processes reach into (MPI 4.1, chapter 12), and by
// which of them processes wait for each other. By the table of MPI and the values of the row alone.
//
// Plain values; `window_role` costs a look at a table, `window_sync` one at the row's fields.
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/row_access.h"
#include "trace/model/record.h"

namespace cairn::analyze {

enum class WindowRole : uint8_t {
  none,
  makes,
  frees,
  fences,
  posts,      ///< MPI_Win_post: lets the processes of a group in
  starts,     ///< MPI_Win_start: goes in at the processes of a group
  completes,  ///< MPI_Win_complete: is done there
  waits,      ///< MPI_Win_wait, MPI_Win_test: all who were let in are done
  locks,
  unlocks,
  gets,
  puts,
  accumulates,
  flushes,  ///< MPI_Win_flush and its like: completes what was begun by a lock
};
WindowRole window_role(uint32_t function);

/// How a process waits for others at a window.
struct WindowSync {
  WindowRole role = WindowRole::none;  ///< makes to unlocks
  HandleName window;
  std::optional<HandleName> communicator;  ///< of what `makes`
  std::optional<HandleName> group;         ///< of `posts` and `starts`
  // Of a fence:
  bool ends = true;   ///< it ends what may have gone on: not MPI_MODE_NOPRECEDE
  bool opens = true;  ///< access may follow it: not MPI_MODE_NOSUCCEED
  // Of a lock, and what follows it:
  std::optional<int64_t> target;  ///< rank in the window's communicator; nullopt: of all
  bool exclusive = false;         ///< of `locks`: MPI_LOCK_EXCLUSIVE
};
/// nullopt: the call does nothing of that kind, or did not succeed; MPI_Win_test said no; a lock is of nobody.
std::optional<WindowSync> window_sync(const trace::Row &row, const RowScope &scope);

}  // namespace cairn::analyze
