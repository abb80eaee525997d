#include "replay/progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "replay/mpi_side.h"

namespace cairn::replay {

Progress::Progress(const Job &job) : job_(job) {
  if (job.settings.stall_s != 0) thread_ = std::thread([this] { look_on(); });
}

Progress::~Progress() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void Progress::look_on() {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::milliseconds(50);
  const std::string path = job_.settings.scratch + "/.progress";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  // Of all jobs: one may wait for another.
  std::vector<uint64_t> seen(std::max(job_.settings.all, job_.trace.rank_count()), UINT64_MAX);
  const auto own = static_cast<off_t>((size_t{job_.settings.first} + job_.rank) * sizeof(uint64_t));
  auto moved = Clock::now();
  auto next = moved;
  while (!done_) {
    std::this_thread::sleep_for(kLook);
    if (Clock::now() < next) continue;
    next = Clock::now() + std::chrono::seconds(1);
    // One more than the calls: a rank that has not begun has told nothing.
    const uint64_t calls = job_.calls() + 1;
    (void)!pwrite(file, &calls, sizeof calls, own);
    std::vector<uint64_t> all(seen.size());
    const ssize_t got = pread(file, all.data(), all.size() * sizeof(uint64_t), 0);
    if (got < 0) break;
    if (all != seen) {
      seen = std::move(all);
      moved = Clock::now();
      continue;
    }
    if (Clock::now() - moved < std::chrono::seconds(job_.settings.stall_s)) continue;
    std::string where;
    for (const std::string &each : job_.standing()) where += (where.empty() ? "" : "; ") + each;
    if (where.empty()) where = "no call of MPI";
    const std::string line = fmt::format("cairn replay: no rank has made a call for {} s; rank {} stands in {}\n",
                                         job_.settings.stall_s, job_.rank, where);
    (void)!write(STDERR_FILENO, line.data(), line.size());
    std::this_thread::sleep_for(std::chrono::seconds(2));  // so that the others can say where they stand
    _exit(1);
  }
  close(file);
}

}  // namespace cairn::replay
