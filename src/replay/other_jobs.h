// OtherJobs: what the processes of a replay have to know of its other jobs. A process that spawned a job starts one
// whose processes replay that job's trace; and a port has another name than it had.
//
// All is told by files in the scratch folder, which all jobs of the replay see: `.spawned` (cairn replay writes it), a
// line for each job but the first, and `.port.HASH` for each port of the recording, with the name that it has now. In
// the recording a name went from job to job as the program chose; here who asks for it waits until it is there.
//
// Several threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn::replay {

/// A job of the replay.
struct SpawnedJob {
  uint32_t job = 0;  ///< its number among all, from 0; 0 is the one that the launcher started
  uint32_t parent = 0;
  uint32_t root = 0;    ///< the rank in `parent` that spawns it
  uint64_t number = 0;  ///< by which of its calls that spawn
  uint32_t first = 0;   ///< how many ranks the jobs before it have
  std::string file;
};
/// Writes `.spawned` into a folder, if there are any.
Result<void> write_spawned(const std::string &folder, const std::vector<SpawnedJob> &jobs);

class OtherJobs {
 public:
  OtherJobs(std::string folder, uint32_t job, uint32_t rank) : folder_(std::move(folder)), job_(job), rank_(rank) {}

  [[nodiscard]] const std::string &folder() const { return folder_; }
  /// The one that this process spawns next. An error: `.spawned` does not say.
  Result<SpawnedJob> next();
  /// A port was opened that had that name in the recording.
  Result<void> tell_port(std::string_view recorded, std::string_view now);
  /// The name that it has now; waits for it if `awaited`, else `recorded` where none was told.
  std::string port(std::string_view recorded, bool awaited) const;

 private:
  [[nodiscard]] std::string port_file(std::string_view recorded) const;

  std::string folder_;
  uint32_t job_;
  uint32_t rank_;
  std::mutex lock_;
  uint64_t spawned_ = 0;
};

}  // namespace cairn::replay
