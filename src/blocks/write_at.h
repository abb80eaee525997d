// write_at: all of some bytes at one place of an open file, whatever signals come. Moves no file offset.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/bytes.h"

namespace cairn::blocks {

/// 0 or errno.
inline int write_at(int file, uint64_t at, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? ENOSPC : errno;
    bytes = bytes.subspan(static_cast<size_t>(written));
    at += static_cast<uint64_t>(written);
  }
  return 0;
}

}  // namespace cairn::blocks
