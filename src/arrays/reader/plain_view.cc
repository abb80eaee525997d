#include "arrays/reader/plain_view.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "arrays/file/physical.h"
#include "base/whole.h"

namespace cairn::arrays {
namespace {

std::string path_of(int file) { return "/proc/self/fd/" + std::to_string(file); }

}  // namespace

bool PlainView::is_compressed(int file) {
  constexpr uint8_t kMagic[] = {'C', 'D', 'F', 5};  // of the header at the front, whatever the file's own format is
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  uint8_t found[sizeof kMagic];
  size_t got = 0;
  if (cairn::read_at(file, 0, found, &got) != 0 || got < sizeof found) return false;
  if (memcmp(found, kMagic, sizeof kMagic) != 0) return false;
  const Result<Header> header = read_header(file);
  return header && ours(*header);
}

Result<std::shared_ptr<PlainView>> PlainView::of(int file, const std::string &name) {
  Result<StoredFile> stored = StoredFile::open(path_of(file), StoredFile::Take::as_needed);
  if (!stored) return tl::unexpected(stored.error());
  return std::shared_ptr<PlainView>(new PlainView(std::move(*stored), name));
}

PlainView::PlainView(StoredFile stored, std::string name) : stored_(std::move(stored)), name_(std::move(name)) {
  size_ = std::max<uint64_t>(stored_.index().virtual_end(), stored_.index().header.size());
}

int PlainView::read_at(uint64_t at, std::span<uint8_t> bytes, size_t *got) {
  *got = 0;
  if (at >= size_ || bytes.empty()) return 0;
  const std::lock_guard<std::mutex> lock(reading_);
  constexpr uint64_t kMost = uint64_t{16} << 20;
  bytes = bytes.first(std::min<uint64_t>({bytes.size(), size_ - at, kMost}));
  const Bytes &header = stored_.index().header;
  size_t front = 0;
  if (at < header.size()) {
    front = std::min<uint64_t>(header.size() - at, bytes.size());
    std::copy_n(header.begin() + static_cast<std::ptrdiff_t>(at), front, bytes.begin());
  }
  if (front < bytes.size()) {
    Region rest;
    rest.offset = at + front;
    rest.run = bytes.size() - front;
    if (const Result<void> read = stored_.read({&rest, 1}, bytes.data() + front); !read) {
      if (!std::exchange(complained_, true))
        fprintf(stderr, "cairn arrays: %s: %s\n", name_.c_str(), read.error().message.c_str());
      return EIO;
    }
  }
  *got = bytes.size();
  return 0;
}

}  // namespace cairn::arrays
