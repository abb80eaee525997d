#include "mpi/store/spool_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_size.h"

namespace cairn::recorder {

bool write_all(int file, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

bool write_file(const std::string &path, ByteView bytes) {
  if (!may_grow_to(bytes.size())) {
    errno = EFBIG;
    return false;
  }
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return false;
  const bool written = write_all(file, bytes);
  const int why = errno;
  const bool closed = close(file) == 0;
  if (written && closed) return true;
  if (!written) errno = why;
  const int kept = errno;
  unlink(path.c_str());
  errno = kept;
  return false;
}

void leave_reason(const Run &run, const char *reason) {
  if (run.config.spool == nullptr) return;
  const std::string path = run.file_in(run.config.spool, "unrecorded");
  if (write_file(path, {reinterpret_cast<const uint8_t *>(reason), strlen(reason)})) return;
  // No room for a line: a file without one says so.
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
}

}  // namespace cairn::recorder
