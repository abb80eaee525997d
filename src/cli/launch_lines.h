// GPU launches as lines of cairn dump between the calls of a rank: each before the call that its thread made next.
//
// Launches by a thread that made no MPI call stand where times say: before a call that began later, if the trace has
// times of calls, and before a launch that was made later. Borrows all that it is given. One rank; one thread. Cost: in
// proportion to the rank's launches, once; then O(1) a call.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "gpu/analyze/moments.h"
#include "trace/read/events.h"

namespace cairn::cli {

class LaunchLines {
 public:
  /// `own` are the rank's (analyze::launches_of). `several_threads` make calls, so that each line says which it was.
  LaunchLines(const gpu::Launches &launches, std::span<const analyze::TimedLaunch> own, bool several_threads,
              bool json);

  /// Adds those that stand before the rank's next call.
  void before(const trace::Event &event, std::string *lines);
  /// Adds those that stand behind the last call.
  void rest(std::string *lines);

 private:
  /// Adds those of threads without calls that were made before then.
  void others_before(std::optional<int64_t> ns, std::string *lines);
  void add(const analyze::TimedLaunch &timed, std::string *lines) const;

  const gpu::Launches &launches_;
  bool several_threads_;
  bool json_;
  std::map<uint32_t, std::deque<analyze::TimedLaunch>> by_thread_;  ///< still to come; in the order of `calls`
  std::map<uint32_t, uint64_t> calls_;                              ///< of each thread, so far
};

/// How a launch is told as JSON: "launch", "kernel" and so on, without braces.
std::string launch_members(const gpu::Launches &launches, const analyze::TimedLaunch &timed);

}  // namespace cairn::cli
