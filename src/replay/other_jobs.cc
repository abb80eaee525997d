#include "replay/other_jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/hash.h"

namespace cairn::replay {

Result<void> write_spawned(const std::string &folder, const std::vector<SpawnedJob> &jobs) {
  if (jobs.empty()) return {};
  std::ofstream file(folder + "/.spawned");
  for (const SpawnedJob &job : jobs) {
    file << fmt::format("{} {} {} {} {} {}\n", job.job, job.parent, job.root, job.number, job.first, job.file);
  }
  file.close();
  if (file) return {};
  return fail(ErrorKind::environment, fmt::format("{}/.spawned cannot be written: {}", folder, std::strerror(errno)),
              "name another place with --scratch");
}

Result<SpawnedJob> OtherJobs::next() {
  const std::lock_guard<std::mutex> guard(lock_);
  std::ifstream lines(folder_ + "/.spawned");
  for (SpawnedJob job; lines >> job.job >> job.parent >> job.root >> job.number >> job.first;) {
    lines.ignore();
    std::getline(lines, job.file);
    if (job.parent != job_ || job.root != rank_ || job.number != spawned_) continue;
    ++spawned_;
    return job;
  }
  return fail(ErrorKind::environment, fmt::format("{}/.spawned does not say what is spawned here", folder_),
              "the folder of a replay is one that all its processes see");
}

std::string OtherJobs::port_file(std::string_view recorded) const {
  return fmt::format("{}/.port.{:016x}", folder_,
                     hash64({reinterpret_cast<const uint8_t *>(recorded.data()), recorded.size()}));
}

Result<void> OtherJobs::tell_port(std::string_view recorded, std::string_view now) {
  const std::string path = port_file(recorded);
  // Whoever reads it finds the whole name.
  const std::string own = fmt::format("{}.{}.{}", path, job_, rank_);
  std::ofstream file(own, std::ios::binary);
  file << now;
  file.close();
  if (file && rename(own.c_str(), path.c_str()) == 0) return {};
  return fail(ErrorKind::environment, fmt::format("{} cannot be written: {}", path, std::strerror(errno)),
              "the folder of a replay is one that all ranks can write to");
}

std::string OtherJobs::port(std::string_view recorded, bool awaited) const {
  constexpr auto kLook = std::chrono::milliseconds(1);
  const std::string path = port_file(recorded);
  while (true) {
    if (std::ifstream file(path, std::ios::binary); file) {
      return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    if (!awaited) return std::string(recorded);
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace cairn::replay
