// may_grow_to: whether a file may have that many bytes under RLIMIT_FSIZE. Beyond it the kernel would send SIGXFSZ,
// which kills programs that do not expect it.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace cairn {

inline bool may_grow_to(uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

}  // namespace cairn
