// RankWindows: what the calls of one rank wait for at its windows, as meetings and messages (rank_messages.h): a window
// made, freed or fenced is a meeting of all its processes; MPI_Win_start and MPI_Win_complete send something to each
// process of their group, for which MPI_Win_post posts receives, and MPI_Win_wait completes them. Locks are told as
// they are.
//
// The n-th window that a rank makes over a communicator is the n-th of all its members. Borrows what is shared. One
// thread. Memory for the windows and groups that are there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/groups.h"
#include "analyze/rank_messages.h"
#include "analyze/window_calls.h"

namespace cairn::analyze {

class RankWindows : public WindowFollower {
 public:
  /// For Arrivals::follow_windows.
  static std::unique_ptr<WindowFollower> follow(const MessageScope &scope, uint32_t rank, Posts *posts,
                                                Gatherings *gatherings);
  RankWindows(const MessageScope &scope, uint32_t rank, Posts *posts, Gatherings *gatherings)
      : scope_(scope), rank_(rank), posts_(*posts), gatherings_(*gatherings) {}

  std::unique_ptr<WindowSync> read(const trace::Row &row, const RowScope &scope) const override;
  void act(const WindowSync &sync, std::optional<uint32_t> communicator, MessageStep *step) override;
  void see_group(const trace::Row &row, const RowScope &scope, std::optional<uint32_t> communicator) override;

 private:
  struct Window {
    uint32_t communicator = 0;
    uint32_t number = 0;    ///< among the windows made over it, from 1 on
    uint64_t meetings = 0;  ///< of all its processes
    Groups::Members entered;
    std::vector<ReceivePointer> posted;
    std::map<std::optional<int64_t>, bool> locks;  ///< by target: whether they are exclusive
  };
  void meet(Window *window, bool waits, MessageStep *step);
  void send(const Window &window, int64_t tag, MessageStep *step);
  void post(Window *window, const Groups::Members &group, const MessageStep &step);
  void complete(Window *window, MessageStep *step);
  void lock(Window *window, const WindowSync &sync, MessageStep *step);

  const MessageScope &scope_;
  uint32_t rank_;
  Posts &posts_;
  Gatherings &gatherings_;
  Groups groups_;
  std::map<HandleName, Window> windows_;
  std::map<uint32_t, uint32_t> made_;  ///< windows, by communicator
};

}  // namespace cairn::analyze
