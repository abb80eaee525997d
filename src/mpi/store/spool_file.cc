#include "mpi/store/spool_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_size.h"
#include "base/whole.h"

namespace cairn::recorder {

bool write_file(const std::string &path, ByteView bytes) {
  if (!may_grow_to(bytes.size())) {
    errno = EFBIG;
    return false;
  }
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return false;
  int why = write_all(file, bytes);
  if (close(file) != 0 && why == 0) why = errno;
  if (why == 0) return true;
  unlink(path.c_str());
  errno = why;
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
