#include "arrays/reader/answers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "arrays/reader/next_call.h"

namespace cairn::arrays {

ssize_t answer(int error, size_t got) {
  if (error == 0) return static_cast<ssize_t>(got);
  errno = error;
  return -1;
}

ssize_t read_from(PlainView &view, void *data, size_t size) {
  const std::lock_guard<std::mutex> lock(view.moving);
  size_t got = 0;
  const int error = view.read_at(view.position, {static_cast<uint8_t *>(data), size}, &got);
  view.position += got;
  return answer(error, got);
}

ssize_t read_from(PlainView &view, off_t at, void *data, size_t size) {
  if (at < 0) return answer(EINVAL, 0);
  size_t got = 0;
  const int error = view.read_at(static_cast<uint64_t>(at), {static_cast<uint8_t *>(data), size}, &got);
  return answer(error, got);
}

/// One read for each piece, as far as there is something.
ssize_t read_pieces(PlainView &view, off_t at, const iovec *pieces, int count) {
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t got = at < 0 ? read_from(view, pieces[i].iov_base, pieces[i].iov_len)
                               : read_from(view, at + all, pieces[i].iov_base, pieces[i].iov_len);
    if (got < 0) return all > 0 ? all : got;
    all += got;
    if (static_cast<size_t>(got) < pieces[i].iov_len) break;
  }
  return all;
}

off_t seek(PlainView &view, off_t by, int from) {
  const std::lock_guard<std::mutex> lock(view.moving);
  const auto size = static_cast<off_t>(view.size());
  off_t to = by;
  if (from == SEEK_CUR) to += static_cast<off_t>(view.position);
  if (from == SEEK_END) to += size;
  if ((from == SEEK_DATA || from == SEEK_HOLE) && by >= size) return answer(ENXIO, 0);
  if (from == SEEK_HOLE) to = size;  // none in between
  if (to < 0 || from < SEEK_SET || from > SEEK_HOLE) return answer(EINVAL, 0);
  view.position = static_cast<uint64_t>(to);
  return to;
}

void *map(PlainView &view, void *address, size_t size, int protection, int flags, off_t at) {
  using Map = void *(void *, size_t, int, int, int, off_t);
  if ((flags & MAP_TYPE) != MAP_PRIVATE && (protection & PROT_WRITE) != 0) {
    errno = EACCES;
    return MAP_FAILED;
  }
  const int own = (flags & ~(MAP_TYPE | MAP_POPULATE)) | MAP_PRIVATE | MAP_ANONYMOUS;
  void *const memory = CAIRN_CALL(Map, "mmap")(address, size, PROT_READ | PROT_WRITE, own, -1, 0);
  if (memory == MAP_FAILED) return memory;
  for (size_t done = 0; done < size;) {
    const ssize_t got =
        read_from(view, at + static_cast<off_t>(done), static_cast<uint8_t *>(memory) + done, size - done);
    if (got < 0) {
      munmap(memory, size);
      errno = EIO;
      return MAP_FAILED;
    }
    if (got == 0) break;  // what is behind the end is zero
    done += static_cast<size_t>(got);
  }
  mprotect(memory, size, protection);
  return memory;
}

}  // namespace cairn::arrays
