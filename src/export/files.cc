#include "export/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace cairn::exporting {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> wrong(ErrorKind kind, const std::string &path, const std::string &what, const char *hint) {
  return tl::unexpected(Error{kind, what, path, Error::kNoOffset, hint});
}

}  // namespace

Result<OutFile> OutFile::create(const std::string &path) {
  if (path.empty()) return OutFile(path, STDOUT_FILENO);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 && errno == EEXIST) {
    return wrong(ErrorKind::usage, path, "is there already", "name another file with --output");
  }
  if (file < 0) {
    return wrong(ErrorKind::environment, path, fmt::format("cannot be made: {}", std::strerror(errno)),
                 "name another file with --output");
  }
  return OutFile(path, file);
}

OutFile::OutFile(OutFile &&other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      buffer_(std::move(other.buffer_)),
      bytes_(other.bytes_),
      error_(other.error_),
      closed_(other.closed_),
      kept_(other.kept_) {}

OutFile::~OutFile() {
  if (file_ < 0 || path_.empty()) return;
  close(file_);
  if (!kept_) unlink(path_.c_str());
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
    return wrong(ErrorKind::environment, path_.empty() ? "standard output" : path_,
                 fmt::format("cannot be written: {}", std::strerror(error_)),
                 "make room, or name another file with --output");
  }
  kept_ = true;
  return {};
}

Result<Folder> Folder::make(const std::string &path) {
  std::error_code error;
  const bool made = mkdir(path.c_str(), 0777) == 0;
  const int why = errno;
  if (!made && why != EEXIST) {
    return wrong(ErrorKind::environment, path, fmt::format("cannot be made: {}", std::strerror(why)), "");
  }
  if (!made && !fs::is_directory(path, error)) {
    return wrong(ErrorKind::environment, path, "is no folder", "name another with --output");
  }
  if (!made && !fs::is_empty(path, error)) {
    return wrong(ErrorKind::usage, path, "is not empty", "name a folder that is not there with --output");
  }
  return Folder(path, made);
}

Folder::Folder(Folder &&other) noexcept
    : path_(std::move(other.path_)),
      made_(other.made_),
      names_(std::move(other.names_)),
      kept_(std::exchange(other.kept_, true)) {}

Folder::~Folder() {
  if (kept_) return;
  std::error_code ignored;
  for (const std::string &name : names_) fs::remove_all(path_ + "/" + name, ignored);
  if (made_) fs::remove(path_, ignored);
}

std::string Folder::will_have(const std::string &name) {
  names_.push_back(name);
  return path_ + "/" + name;
}

}  // namespace cairn::exporting
