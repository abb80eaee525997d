// Communicators: which there were in a run, and which process is which rank of each.
//
// From the calls that made them, on all ranks of the trace: these say which rank the caller became
// (spec/README.md, "Communicators"). Cost: the distinct calls of the ranks that made some; all calls of a rank where
// one number named several that others were made over. Const after construction; any thread may use it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/communicator_names.h"
#include "analyze/dist_graph.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

struct Communicator {
  /// A process, by its rank in MPI_COMM_WORLD, and its rank here. Here and in all analyses of a trace of several jobs
  /// (trace/read/join_jobs.h) ranks in MPI_COMM_WORLD are those of the trace, which go on from job to job.
  struct Member {
    int64_t rank = 0;
    uint32_t in_world = 0;
    auto operator<=>(const Member &) const = default;
  };
  std::string name;       ///< communicator_names.h; "MPI_COMM_WORLD"
  std::string parent;     ///< what it was made over; "" of MPI_COMM_WORLD, or where nothing was
  uint32_t function = 0;  ///< that made it, where `made`
  bool made = false;      ///< by a call of the program
  Position position;      ///< where
  /// In order of their ranks here; the second only of intercommunicators, the first having the smallest rank.
  std::array<std::vector<Member>, 2> groups;
  /// Each rank here, from 0 on, is a process of the trace. False where the trace lacks ranks, or cannot tell.
  bool complete = true;
  /// An intercommunicator whose other group is of another world, as that of spawned processes: `groups` has one alone.
  bool foreign = false;
  /// Processes of several jobs of the trace may be in it.
  bool joint = false;
};

class Communicators {
 public:
  static Result<Communicators> of(const trace::Trace &trace, const Sources &sources);

  /// MPI_COMM_WORLD first, that of each job of the trace, then the others by name.
  [[nodiscard]] const std::vector<Communicator> &all() const { return all_; }
  /// How many of these are MPI_COMM_WORLD: one for each job of the trace.
  [[nodiscard]] uint32_t worlds() const { return worlds_; }
  /// nullptr: there is none of that name; there is none for MPI_COMM_SELF.
  [[nodiscard]] const Communicator *find(std::string_view name) const;
  /// Of those that MPI_Dist_graph_create made.
  [[nodiscard]] const DistGraphs &graphs() const { return graphs_; }

 private:
  std::vector<Communicator> all_;
  uint32_t worlds_ = 0;
  DistGraphs graphs_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

/// How many processes the communicators of each rank have, whose own calls do not always say (MPI_Comm_split). Costs
/// what Communicators costs.
class CommunicatorSizes {
 public:
  static Result<CommunicatorSizes> of(const trace::Trace &trace);
  /// Of all that have that number on that rank, at any time; nullopt: they differ, it is an intercommunicator, or not
  /// all of its processes are known.
  [[nodiscard]] std::optional<int64_t> of(uint32_t rank, int64_t number) const;

 private:
  std::map<std::pair<uint32_t, int64_t>, size_t> sizes_;
};

/// What each rank's communicators are called at the end of its recording. Costs all calls of a rank that used a number
/// again. `trace` must outlive it.
class LastNames {
 public:
  explicit LastNames(const trace::Trace &trace);
  ~LastNames();
  LastNames(const LastNames &) = delete;
  LastNames &operator=(const LastNames &) = delete;
  [[nodiscard]] CommunicatorNames of(uint32_t rank) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Which side of an intercommunicator a rank means.
enum class Side : uint8_t { own, other };
/// The rank in MPI_COMM_WORLD of rank `rank` of that communicator; `asking`: whose call says so, by its rank in
/// MPI_COMM_WORLD. nullopt: not known.
std::optional<uint32_t> world_rank(const Communicator &communicator, int64_t rank, uint32_t asking, Side side);

/// "0-7", "3,1", "0-6:2" (every second), in the order of the ranks.
std::string members_text(const std::vector<Communicator::Member> &members);

}  // namespace cairn::analyze
