// Progress: looks on while a rank replays, in a thread of its own, and tells a deadlock from slowness: if no rank has
// made a call for the stated time, each says where it stands and the job ends. The ranks tell each other how far they
// are in a file of the scratch folder, once a second.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "replay/job.h"

namespace cairn::replay {

class Progress {
 public:
  explicit Progress(const Job &job);
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress();

 private:
  void look_on();
  const Job &job_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace cairn::replay
