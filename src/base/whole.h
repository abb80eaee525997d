// All of some bytes to or from an open file, whatever signals come and however little the system takes at a time.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace cairn {

/// Calls `some(done)`, which reads or writes what is left, until `size` bytes are done or it did nothing. 0 or errno.
template <typename Some>
int until_done(size_t size, size_t *done, Some some) {
  while (*done < size) {
    const ssize_t now = some(*done);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return errno;
    if (now == 0) break;
    *done += static_cast<size_t>(now);
  }
  return 0;
}

/// At one place; moves no file offset. 0 or errno.
inline int write_at(int file, uint64_t at, ByteView bytes) {
  size_t done = 0;
  const int error = until_done(bytes.size(), &done, [&](size_t n) {
    return pwrite(file, bytes.data() + n, bytes.size() - n, static_cast<off_t>(at + n));
  });
  return error == 0 && done < bytes.size() ? ENOSPC : error;
}
/// 0 or errno.
inline int write_all(int file, ByteView bytes) {
  size_t done = 0;
  const int error =
      until_done(bytes.size(), &done, [&](size_t n) { return write(file, bytes.data() + n, bytes.size() - n); });
  return error == 0 && done < bytes.size() ? ENOSPC : error;
}
/// From one place on; `done` says how many, fewer only where the file ends. 0 or errno.
inline int read_at(int file, uint64_t at, std::span<uint8_t> to, size_t *done) {
  *done = 0;
  return until_done(to.size(), done,
                    [&](size_t n) { return pread(file, to.data() + n, to.size() - n, static_cast<off_t>(at + n)); });
}

}  // namespace cairn
