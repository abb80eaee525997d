#include "arrays/file/draft.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/file_size.h"
#include "base/whole.h"

namespace cairn::arrays {

Result<Draft> Draft::create(const std::string &path) {
  Draft draft;
  draft.path_ = path;
  // Behind a link lies the file that is to be replaced.
  if (char *whole = realpath(path.c_str(), nullptr); whole != nullptr) {
    draft.path_ = whole;
    free(whole);
  }
  std::string name = draft.path_ + ".XXXXXX";
  draft.file_ = mkostemp(name.data(), O_CLOEXEC);
  if (draft.file_ < 0) return draft.cannot(errno);
  draft.name_ = std::move(name);
  return draft;
}

Draft::Draft(Draft &&other) noexcept
    : file_(std::exchange(other.file_, -1)),
      name_(std::exchange(other.name_, {})),
      path_(std::exchange(other.path_, {})) {}

Draft &Draft::operator=(Draft &&other) noexcept {
  discard();
  file_ = std::exchange(other.file_, -1);
  name_ = std::exchange(other.name_, {});
  path_ = std::exchange(other.path_, {});
  return *this;
}

Draft::~Draft() { discard(); }

void Draft::discard() {
  if (file_ >= 0) close(file_);
  if (!name_.empty()) unlink(name_.c_str());
  file_ = -1;
  name_.clear();
}

tl::unexpected<Error> Draft::cannot(int number) const {
  return tl::unexpected(Error{ErrorKind::environment, std::string("cannot be written: ") + strerror(number), path_,
                              Error::kNoOffset, ""});
}

Result<void> Draft::put(uint64_t at, ByteView bytes) {
  if (!may_grow_to(at + bytes.size())) return cannot(EFBIG);
  if (const int error = write_at(file_, at, bytes); error != 0) return cannot(error);
  return {};
}

Result<void> Draft::resize(uint64_t size) {
  if (!may_grow_to(size)) return cannot(EFBIG);
  if (ftruncate(file_, static_cast<off_t>(size)) != 0) return cannot(errno);
  return {};
}

Result<void> Draft::keep(int mode) {
  if (mode < 0) {
    const mode_t mask = umask(0);
    umask(mask);
    mode = static_cast<int>(0666 & ~mask);
  }
  if (fchmod(file_, static_cast<mode_t>(mode)) != 0 || fsync(file_) != 0) return cannot(errno);
  if (rename(name_.c_str(), path_.c_str()) != 0) return cannot(errno);
  name_.clear();
  return {};
}

}  // namespace cairn::arrays
