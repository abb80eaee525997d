// lock_file: the lock that a process holds, for as long as it lives, on a file that outlives it, by which others know
// that it does. It belongs to the open file, which a mapping keeps open, and not to a descriptor, which would be the
// program's: so the kernel takes it away when the process is gone, however it ends, and on other nodes as well where
// the file system knows locks.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace cairn {

/// Of the whole file; false if it cannot be had.
inline bool lock_file(int file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_SETLK, &whole) == 0;
}

/// Whether another open file has it. Where the file system knows no locks: no.
inline bool is_locked(int file) {
  struct flock wanted {};
  wanted.l_type = F_RDLCK;
  wanted.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK;
}

}  // namespace cairn
