#include "replay/scratch_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/hash.h"

namespace cairn::replay {

namespace fs = std::filesystem;

std::string ScratchFiles::path(const std::string &recorded) const {
  // "ufs:/scratch/out": a name may begin with the file system's type.
  const size_t colon = recorded.find(':');
  const bool typed = colon != std::string::npos && recorded.find('/') > colon;
  const std::string plain = typed ? recorded.substr(colon + 1) : recorded;
  const uint64_t hash = hash64({reinterpret_cast<const uint8_t *>(plain.data()), plain.size()});
  const std::string name = fmt::format("{:08x}-{}", hash & 0xffffffffU, fs::path(plain).filename().string());
  return (typed ? recorded.substr(0, colon + 1) : std::string()) + folder_ + '/' + name;
}

void ScratchFiles::remove(const std::string &path) const {
  const size_t at = path.find(folder_);
  if (at != std::string::npos) unlink(path.c_str() + at);
}

void ScratchFiles::provide(const std::string &path) const {
  const size_t at = path.find(folder_);
  if (at == std::string::npos) return;
  constexpr off_t kLength = off_t{1} << 36;  // of holes: it takes no room
  const int file = open(path.c_str() + at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;  // it is there, or MPI will say why not
  for (off_t length = kLength; length >= 4096 && ftruncate(file, length) != 0; length /= 16) {
  }
  close(file);
}

}  // namespace cairn::replay
