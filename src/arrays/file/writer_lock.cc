#include "arrays/file/writer_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace cairn::arrays {
namespace {

constexpr off_t kFar = off_t{1} << 62;

}  // namespace

void WriterLock::Closer::operator()(const int *file) const {
  close(*file);
  delete file;
}

WriterLock::WriterLock(const std::string &path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    state_ = errno == ENOENT ? State::none : State::unknown;
    return;
  }
  file_.reset(new int(file));
  struct flock byte {};
  byte.l_type = F_WRLCK;
  byte.l_whence = SEEK_SET;
  byte.l_start = kFar;
  byte.l_len = 1;
  state_ = State::held;
  if (fcntl(file, F_OFD_SETLK, &byte) == 0) return;
  state_ = errno == EAGAIN || errno == EACCES ? State::refused : State::unknown;
  file_.reset();
}

}  // namespace cairn::arrays
