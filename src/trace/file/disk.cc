#include "trace/file/disk.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/whole.h"
#include "trace/file/file.h"

namespace cairn::trace {
namespace {

tl::unexpected<Error> error(const std::string &what, const std::string &path) {
  return tl::unexpected(Error{ErrorKind::unreadable, what + ": " + std::strerror(errno), path, Error::kNoOffset, {}});
}

/// `read`, from a stream that may have nothing yet; of one that nobody writes to the end is here.
ssize_t read_some(int file, uint8_t *to, size_t size) {
  for (;;) {
    const ssize_t got = ::read(file, to, size);
    pollfd ready{file, POLLIN, 0};
    if (got >= 0 || errno != EAGAIN || (poll(&ready, 1, -1) < 0 && errno != EINTR)) return got;
  }
}

/// What is no ordinary file is read to its end.
Result<Bytes> read_stream(const std::string &path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return error("cannot open the trace", path);
  Bytes bytes;
  constexpr size_t kStep = 1 << 16;
  size_t used = 0;
  while (used == bytes.size()) {
    bytes.resize(std::max(used + kStep, used * 2));
    if (until_done(bytes.size(), &used,
                   [&](size_t n) { return read_some(file, bytes.data() + n, bytes.size() - n); })) {
      auto result = error("cannot read the trace", path);
      close(file);
      return result;
    }
  }
  close(file);
  bytes.resize(used);
  return bytes;
}

}  // namespace

bool begins_as_trace(const std::string &path) {
  const auto disk = Disk::open(path);
  if (!disk) return false;
  const auto front = (*disk)->read(0, file_magic().size());
  return front && is_magic(*front);
}

Result<std::shared_ptr<const Disk>> Disk::open(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file < 0) return error("cannot open the trace", path);
  const bool ordinary = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  return std::shared_ptr<const Disk>(new Disk(path, file, ordinary ? static_cast<uint64_t>(status.st_size) : 0));
}

Disk::~Disk() { close(file_); }

Result<Bytes> Disk::read(uint64_t offset, uint64_t size) const {
  Bytes bytes(offset < size_ ? std::min(size, size_ - offset) : 0);
  size_t done = 0;
  if (read_at(file_, offset, bytes, &done) != 0) return error("cannot read the trace", path_);
  bytes.resize(done);  // it may have become shorter
  return bytes;
}

Result<WithoutBlocks> read_without_blocks(const std::string &path) {
  const Result<std::shared_ptr<const Disk>> opened = Disk::open(path);
  if (!opened) return tl::unexpected(opened.error());
  const Disk &disk = **opened;
  if (disk.size() != 0) {
    return read_without_blocks([&](uint64_t offset, uint64_t size) { return disk.read(offset, size); }, disk.size());
  }
  Result<Bytes> bytes = read_stream(path);
  if (!bytes) return tl::unexpected(bytes.error());
  return WithoutBlocks{*std::move(bytes), 0};
}

}  // namespace cairn::trace
