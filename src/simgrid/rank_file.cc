#include "simgrid/rank_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cairn::simgrid {

std::string size_text(uint64_t bytes) {
  constexpr uint64_t kUnit = 32;
  if (bytes <= INT32_MAX) return std::to_string(bytes);
  const uint64_t units = bytes / kUnit + (bytes % kUnit == 0 ? 0 : 1);
  return fmt::format("{} 27", std::min<uint64_t>(units, INT32_MAX));
}

Result<RankFile> RankFile::create(const std::string &path, uint32_t rank) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    return tl::unexpected(Error{
        ErrorKind::environment, fmt::format("cannot be made: {}", std::strerror(errno)), path, Error::kNoOffset, {}});
  }
  return RankFile(path, file, rank);
}

RankFile::RankFile(std::string path, int file, uint32_t rank)
    : path_(std::move(path)), file_(file), head_(fmt::format("{} ", rank)) {}

RankFile::RankFile(RankFile &&other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      head_(std::move(other.head_)),
      buffer_(std::move(other.buffer_)),
      flushed_(other.flushed_),
      lines_(other.lines_),
      error_(other.error_) {}

RankFile::~RankFile() {
  if (file_ >= 0) ::close(file_);
}

RankFile::Line RankFile::put(size_t width, std::string_view action) {
  const Line line{flushed_ + buffer_.size(), static_cast<uint32_t>(std::max(head_.size() + action.size(), width))};
  const size_t begin = buffer_.size();
  buffer_.append(head_).append(action);
  buffer_.resize(begin + line.length, ' ');
  buffer_ += '\n';
  ++lines_;
  if (buffer_.size() >= kBuffer) flush();
  return line;
}

void RankFile::change(const Line &line, std::string_view action) {
  std::string text = head_;
  text.append(action);
  if (text.size() > line.length) {
    error_ = error_ == 0 ? EOVERFLOW : error_;
    return;
  }
  text.resize(line.length, ' ');
  overwrite(line.offset, text);
}

void RankFile::overwrite(uint64_t offset, std::string_view text) {
  if (offset >= flushed_) {  // lines are never flushed in part
    buffer_.replace(offset - flushed_, text.size(), text);
  } else if (pwrite(file_, text.data(), text.size(), static_cast<off_t>(offset)) != static_cast<ssize_t>(text.size())) {
    error_ = error_ == 0 ? errno : error_;
  }
}

void RankFile::flush() {
  size_t done = 0;
  while (done < buffer_.size() && error_ == 0) {
    const ssize_t wrote = write(file_, buffer_.data() + done, buffer_.size() - done);
    if (wrote > 0) done += static_cast<size_t>(wrote);
    if (wrote < 0 && errno != EINTR) error_ = errno;
  }
  flushed_ += buffer_.size();
  buffer_.clear();
}

Result<void> RankFile::close() {
  flush();
  if (::close(std::exchange(file_, -1)) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0) return {};
  return tl::unexpected(Error{ErrorKind::environment, fmt::format("cannot be written: {}", std::strerror(error_)),
                              path_, Error::kNoOffset, "make room, or name another folder with --output"});
}

}  // namespace cairn::simgrid
