#include "export/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cairn::exporting {

Result<OutFile> OutFile::create(const std::string &path) {
  if (path.empty()) return OutFile(path, STDOUT_FILENO);
  auto partial = Partial::of(path);
  if (!partial) return tl::unexpected(partial.error());
  auto made = open(partial->name(), path, O_TRUNC);
  if (made) made->partial_.emplace(*std::move(partial));
  return made;
}

Result<OutFile> OutFile::create_in(Partial *folder, const std::string &name) {
  const std::string path = folder->name() + "/" + name;
  return open(path, path, O_CREAT | O_EXCL);
}

Result<OutFile> OutFile::open(const std::string &path, const std::string &shown, int how) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | how, 0666);
  if (file < 0) {
    return wrong_at(ErrorKind::environment, shown, fmt::format("cannot be made: {}", std::strerror(errno)),
                    "name another file with --output");
  }
  return OutFile(shown, file);
}

OutFile::OutFile(OutFile &&other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      partial_(std::move(other.partial_)),
      buffer_(std::move(other.buffer_)),
      bytes_(other.bytes_),
      error_(other.error_),
      closed_(other.closed_) {}

OutFile::~OutFile() {
  if (file_ >= 0 && !path_.empty()) close(file_);
}

void OutFile::flush() {
  const char *at = buffer_.data();
  size_t left = buffer_.size();
  while (left != 0 && error_ == 0 && !closed_) {
    const ssize_t done = ::write(file_, at, left);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      closed_ = errno == EPIPE;
      error_ = closed_ ? 0 : errno;
      break;
    }
    at += done;
    left -= static_cast<size_t>(done);
  }
  bytes_ += buffer_.size();
  buffer_.clear();
}

Result<void> OutFile::finish() {
  flush();
  if (error_ != 0) {
    return wrong_at(ErrorKind::environment, path_.empty() ? "standard output" : path_,
                    fmt::format("cannot be written: {}", std::strerror(error_)),
                    "make room, or name another file with --output");
  }
  return partial_ ? partial_->finish() : Result<void>();
}

}  // namespace cairn::exporting
