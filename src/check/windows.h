// Windows: one-sided access that reaches beyond the window of its target, or that collides with another one in the same
// memory, so that nobody knows what is there afterwards (MPI 4.1, 12.7).
//
// Two accesses collide if they have a byte in common, one of them puts, the other gets, puts or accumulates, and
// nothing says which is first:
// - both are between the same two fences;
// - both are between the same MPI_Win_post and MPI_Win_wait of their target;
// - they are one rank's, by a lock, and nothing completed them between (MPI_Win_flush, MPI_Win_unlock and their like);
// - they are two ranks', by locks that are not exclusive, and were under way at one time (access_spans.h), which takes
//   the times of calls. What was not at one time in this run, but may be in another, is not told.
// What no fence ends is held against the bounds of the window alone. Windows of MPI_Win_create_dynamic have no bounds
// that are known, and their accesses are left aside. A window is the meeting (analyze/messages.h) of the calls that
// made it; until that is known a rank's calls wait.
//
// Borrows the findings; layouts are of one table. One thread. Memory for the windows that are there, and for accesses
// that others may still collide with, of those by locks kMostSpans. Cost: of n accesses to one target between two
// fences n log n, and the pairs that overlap, of which kMostPairs are looked at.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/messages.h"
#include "check/access_spans.h"
#include "check/findings.h"
#include "check/window_access.h"

namespace cairn::check {

class Windows {
 public:
  static constexpr size_t kMostPairs = 4096;
  static constexpr size_t kMostSpans = size_t{1} << 18;
  static constexpr size_t kMostQueued = size_t{1} << 16;
  /// Times of two ranks are wrong by `uncertainty_ns` at most, one against another; nullopt: who knows by how much.
  Windows(Findings *findings, std::optional<uint64_t> uncertainty_ns)
      : findings_(*findings), uncertainty_ns_(uncertainty_ns) {}
  ~Windows();
  Windows(const Windows &) = delete;
  Windows &operator=(const Windows &) = delete;

  /// The rank's next call of that kind; its times are 0 where they are not known.
  void see(const WindowCall &what, const analyze::CallTime &call);
  /// All members have made the call; of any operation.
  void met(const analyze::Meeting &meeting);
  /// The accesses that MPI_Win_complete ended, `from`, are among those that MPI_Win_wait waited for, `to`.
  void exposed(const analyze::CallTime &from, const analyze::CallTime &to);
  /// All is told of that call of the rank and those before it.
  void passed(uint32_t rank, uint64_t call);
  /// No call that is seen from now on began before.
  void all_after(uint64_t ns);
  /// Nothing follows.
  void finish();

  /// Accesses by locks that were not held against those of other ranks, since their calls have no times that can be
  /// compared; and since there were too many.
  [[nodiscard]] uint64_t untimed() const { return untimed_; }
  [[nodiscard]] uint64_t too_many() const { return too_many_; }

 private:
  struct Window;
  using Accesses = std::vector<WindowAccess>;
  /// By lock, and not complete.
  struct UnderWay {
    WindowAccess access;
    bool exclusive = false;
  };
  /// What one rank has to do with a window.
  struct Part {
    std::optional<int64_t> size;
    int64_t unit = 1;
    bool freed = false;
    bool fenced = false;   ///< accesses are between fences
    bool started = false;  ///< between MPI_Win_start and MPI_Win_complete
    uint64_t fences = 0;
    Accesses since;                                ///< the last fence, or MPI_Win_start
    std::map<std::optional<int64_t>, bool> locks;  ///< by whose part, nullopt: all; whether they are exclusive
    std::vector<UnderWay> under_way;
    std::vector<WindowAccess> queued;  ///< calls, while `window` is not known
    std::shared_ptr<Window> window;
  };
  struct Epoch {
    size_t passed = 0;  ///< members
    Accesses all;
  };
  struct Window {
    std::vector<std::shared_ptr<Part>> parts;  ///< by rank in the communicator
    std::vector<uint32_t> ranks;               ///< likewise, in MPI_COMM_WORLD
    std::map<uint64_t, Epoch> epochs;          ///< by how many fences were before
    std::map<int64_t, AccessSpans> spans;      ///< by target
    size_t pairs = 0;                          ///< of spans that were looked at
    bool complete = true;                      ///< each part is known
  };
  using WindowPointer = std::shared_ptr<Window>;
  using Call = std::pair<uint32_t, uint64_t>;  ///< rank, and number
  struct Together {
    WindowPointer window;
    Accesses accesses;
  };

  /// The rank is done with it; once all are, it and its parts hold each other no longer.
  static void let_go(Part *part);
  void act(Part *part, const WindowAccess &call);
  void access(Part *part, const WindowAccess &access);
  void fence(Part *part, bool opens);
  /// What nothing will end that could say what else was meanwhile.
  void leave_alone(Part *part);
  /// Those to the part of `whose`, or all.
  void complete(Part *part, const WindowCall &what, const analyze::CallTime &by);
  void under_way_until(const WindowPointer &window, const WindowAccess &access, bool exclusive, uint64_t end_ns);
  /// False: there is something wrong with it alone.
  bool is_within(const Window &window, const WindowAccess &access);
  void collide(const Window &window, Accesses accesses, const char *when);
  void tell(const Window &window, const WindowAccess &one, const WindowAccess &other, int64_t unit, const char *when);

  Findings &findings_;
  std::optional<uint64_t> uncertainty_ns_;
  std::map<std::pair<uint32_t, analyze::HandleName>, std::shared_ptr<Part>> parts_;  ///< as each rank names them now
  std::map<Call, std::shared_ptr<Part>> made_;                                       ///< until all have met
  std::map<Call, Together> ended_;                                                   ///< by MPI_Win_complete
  std::map<Call, std::vector<analyze::CallTime>> expected_;  ///< who waited for what a call ends that is still queued
  std::map<Call, Together> exposed_;                         ///< by MPI_Win_wait
  size_t queues_ = 0;                                        ///< parts with calls that are queued
  std::vector<WindowPointer> spanned_;                       ///< windows with spans
  size_t spans_ = 0;                                         ///< of all, when they were last looked at, and added since
  uint64_t untimed_ = 0;
  uint64_t too_many_ = 0;
};

}  // namespace cairn::check
