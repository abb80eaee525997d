// Windows: one-sided access that reaches beyond the window of its target, or that collides with another one in the same
// memory between the same two fences, so that nobody knows what is there afterwards (MPI 4.1, 12.7).
//
// Two accesses collide if they have a byte in common and one of them puts: with another put, a get, or an accumulate.
// Accesses by locks, or between MPI_Win_start and MPI_Win_complete, are held against the bounds of the window alone:
// what order they have depends on more than the trace says; so is what no fence ends. Windows of
// MPI_Win_create_dynamic have no bounds that are known, and their accesses are left aside. A window is the meeting
// (analyze/messages.h) of the calls that made it; until that is known accesses wait.
//
// Borrows the findings; layouts are of one table. One thread. Memory for the windows that are there, and for accesses
// since the last fence that all have passed. Cost: of n accesses to one target between two fences n log n, and the
// pairs that overlap, of which kMostPairs are looked at.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/messages.h"
#include "analyze/row_access.h"
#include "analyze/window_calls.h"
#include "check/findings.h"
#include "objects/rank_layouts.h"
#include "trace/model/record.h"

namespace cairn::check {

/// What a call does with a window.
struct WindowCall {
  analyze::WindowRole role = analyze::WindowRole::none;
  analyze::HandleName window;
  // Of what it makes.
  std::optional<int64_t> size;  ///< bytes; nullopt: it has no bounds that are known
  int64_t unit = 1;             ///< bytes of a displacement
  /// Of a fence: accesses may follow until the next one, or until a lock or MPI_Win_start (`locks`).
  bool opens = true;
  // Of access.
  int64_t target = 0;                           ///< rank in the window's communicator
  int64_t displacement = 0;                     ///< in units of the target
  const objects::TypeLayout *layout = nullptr;  ///< at the target; not empty
};
/// nullopt: the call does nothing of that kind, did not succeed, or it is not known where.
std::optional<WindowCall> window_call(const trace::Row &row, const analyze::RowScope &scope,
                                      const objects::RankLayouts &layouts);

class Windows {
 public:
  static constexpr size_t kMostPairs = 4096;
  explicit Windows(Findings *findings) : findings_(*findings) {}
  ~Windows();
  Windows(const Windows &) = delete;
  Windows &operator=(const Windows &) = delete;

  /// The rank's next call of that kind.
  void see(const WindowCall &what, const analyze::CallTime &call);
  /// All members have made the call; of any operation.
  void met(const analyze::Meeting &meeting);

 private:
  struct Window;
  struct Access {
    WindowCall what;
    analyze::CallTime call;
  };
  /// What one rank has to do with a window.
  struct Part {
    std::optional<int64_t> size;
    int64_t unit = 1;
    bool fenced = false;  ///< accesses are between fences
    bool freed = false;
    uint64_t fences = 0;
    std::vector<Access> since;                 ///< the last fence
    std::vector<std::vector<Access>> waiting;  ///< of earlier fences, while `window` is not known
    std::vector<Access> others;                ///< not between fences; the same
    std::shared_ptr<Window> window;
  };
  struct Epoch {
    size_t passed = 0;  ///< members
    std::vector<Access> all;
  };
  struct Window {
    std::vector<std::shared_ptr<Part>> parts;  ///< by rank in the communicator
    std::map<uint64_t, Epoch> epochs;          ///< by how many fences were before
    bool complete = true;                      ///< each part is known
  };
  using Maker = std::pair<uint32_t, uint64_t>;  ///< rank, and call

  /// The rank is done with it; once all are, it and its parts hold each other no longer.
  static void let_go(Part *part);
  void pass(Window *window, uint64_t fences, std::vector<Access> accesses);
  /// False: there is something wrong with it alone.
  bool is_within(const Window &window, const Access &access);
  void collide(const Window &window, std::vector<Access> accesses);

  Findings &findings_;
  std::map<std::pair<uint32_t, analyze::HandleName>, std::shared_ptr<Part>> parts_;  ///< as each rank names them now
  std::map<Maker, std::shared_ptr<Part>> made_;                                      ///< until all have met
};

}  // namespace cairn::check
