// libcairn-arrays-read.so: preloaded into a program that reads NetCDF by itself, without MPI (ncdump, NCO, Python).
// Where such a program opens a compressed file for reading, every call that reads from it gives the bytes of the file
// that PnetCDF alone would have written. Other files, and files opened for writing, are what they are.
//
// Calls that copy without reading (sendfile, copy_file_range, cloning) fail as they do between file systems that
// cannot, and programs read instead.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "arrays/reader/answers.h"
#include "arrays/reader/next_call.h"
#include "arrays/reader/open_views.h"
#include "arrays/reader/streams.h"

#define CAIRN_EXPORT extern "C" __attribute__((visibility("default")))

namespace cairn::arrays {
namespace {

using View = std::shared_ptr<PlainView>;

/// `file` is what opening gave.
int opened(int file, const char *path, int flags) {
  if (file < 0 || (flags & O_ACCMODE) != O_RDONLY || (flags & (O_DIRECTORY | O_PATH)) != 0) return file;
  if (OpenViews::all().opened(file, path)) return file;
  close_for_real(file);
  errno = EIO;
  return -1;
}

bool makes_a_file(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

#define CAIRN_MODE(FLAGS)                                   \
  mode_t mode = 0;                                          \
  if (makes_a_file(FLAGS)) {                                \
    va_list rest;                                           \
    va_start(rest, FLAGS);                                  \
    mode = static_cast<mode_t>(va_arg(rest, unsigned int)); \
    va_end(rest);                                           \
  }

/// Whether a call that may take a name means the descriptor itself.
bool is_empty(const char *path) { return path == nullptr || *path == '\0'; }

template <typename Status>
int resized(int result, int file, Status *status) {
  if (result != 0) return result;
  if (const View view = OpenViews::all().of(file)) status->st_size = static_cast<off_t>(view->size());
  return result;
}

/// The same of a file that is named, and what was said of it: the plain size, or the one that it has.
off_t size_by_name(int folder, const char *path, const FileIdentity &found) {
  if (!S_ISREG(found.mode) || found.size == 0) return found.size;
  const int error = errno;
  off_t size = found.size;
  if (const auto known = OpenViews::all().size_of(found)) {
    size = *known;
  } else if (const int file = CAIRN_CALL(OpenAtCall, "openat")(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
             file >= 0) {
    size = OpenViews::all().find_size(file, path, found);
    close_for_real(file);
  }
  errno = error;
  return size;
}

template <typename Status>
int resized(int result, int folder, const char *path, Status *status) {
  if (result != 0 || path == nullptr) return result;
  const FileIdentity found{status->st_dev,         status->st_ino,          status->st_size,
                           status->st_mtim.tv_sec, status->st_mtim.tv_nsec, status->st_mode};
  status->st_size = size_by_name(folder, path, found);
  return result;
}

FILE *open_stream(FILE *found, const char *path, const char *mode) {
  if (found == nullptr || mode[0] != 'r' || strchr(mode, '+') != nullptr) return found;
  const int own = fileno(found);
  if (own < 0 || !PlainView::is_compressed(own)) return found;
  fclose(found);
  const int file = opened(CAIRN_CALL(OpenCall, "open")(path, O_RDONLY | O_CLOEXEC, 0), path, O_RDONLY);
  return file < 0 ? nullptr : Streams::all().open(file, mode);
}

int duplicated(int from, int to) {
  if (to >= 0 && from != to) OpenViews::all().duplicated(from, to);
  return to;
}

}  // namespace
}  // namespace cairn::arrays

using namespace cairn::arrays;  // NOLINT(google-build-using-namespace): what follows are the C library's names

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,readability-identifier-naming)

#define CAIRN_OPEN(NAME)                                                        \
  CAIRN_EXPORT int NAME(const char *path, int flags, ...) {                     \
    CAIRN_MODE(flags)                                                           \
    return opened(CAIRN_CALL(OpenCall, #NAME)(path, flags, mode), path, flags); \
  }
CAIRN_OPEN(open)
CAIRN_OPEN(open64)

#define CAIRN_OPEN_AT(NAME)                                                               \
  CAIRN_EXPORT int NAME(int folder, const char *path, int flags, ...) {                   \
    CAIRN_MODE(flags)                                                                     \
    return opened(CAIRN_CALL(OpenAtCall, #NAME)(folder, path, flags, mode), path, flags); \
  }
CAIRN_OPEN_AT(openat)
CAIRN_OPEN_AT(openat64)

// What fortified programs call.
#define CAIRN_OPEN_2(NAME, PLAIN)                                             \
  CAIRN_EXPORT int NAME(const char *path, int flags) {                        \
    return opened(CAIRN_CALL(OpenCall, #PLAIN)(path, flags, 0), path, flags); \
  }
CAIRN_OPEN_2(__open_2, open)
CAIRN_OPEN_2(__open64_2, open64)
#define CAIRN_OPEN_AT_2(NAME, PLAIN)                                                    \
  CAIRN_EXPORT int NAME(int folder, const char *path, int flags) {                      \
    return opened(CAIRN_CALL(OpenAtCall, #PLAIN)(folder, path, flags, 0), path, flags); \
  }
CAIRN_OPEN_AT_2(__openat_2, openat)
CAIRN_OPEN_AT_2(__openat64_2, openat64)

CAIRN_EXPORT int close(int file) {
  OpenViews::all().closed(file);
  return close_for_real(file);
}

CAIRN_EXPORT ssize_t read(int file, void *data, size_t size) {
  using Read = ssize_t(int, void *, size_t);
  if (const View view = OpenViews::all().of(file)) return read_from(*view, data, size);
  return CAIRN_CALL(Read, "read")(file, data, size);
}
CAIRN_EXPORT ssize_t __read_chk(int file, void *data, size_t size, size_t room) {
  using Read = ssize_t(int, void *, size_t, size_t);
  if (const View view = OpenViews::all().of(file)) return read_from(*view, data, std::min(size, room));
  return CAIRN_CALL(Read, "__read_chk")(file, data, size, room);
}
#define CAIRN_PREAD(NAME)                                                                     \
  CAIRN_EXPORT ssize_t NAME(int file, void *data, size_t size, off_t at) {                    \
    using Read = ssize_t(int, void *, size_t, off_t);                                         \
    if (const View view = OpenViews::all().of(file)) return read_from(*view, at, data, size); \
    return CAIRN_CALL(Read, #NAME)(file, data, size, at);                                     \
  }
CAIRN_PREAD(pread)
CAIRN_PREAD(pread64)
#define CAIRN_PREAD_CHECKED(NAME)                                                                             \
  CAIRN_EXPORT ssize_t NAME(int file, void *data, size_t size, off_t at, size_t room) {                       \
    using Read = ssize_t(int, void *, size_t, off_t, size_t);                                                 \
    if (const View view = OpenViews::all().of(file)) return read_from(*view, at, data, std::min(size, room)); \
    return CAIRN_CALL(Read, #NAME)(file, data, size, at, room);                                               \
  }
CAIRN_PREAD_CHECKED(__pread_chk)
CAIRN_PREAD_CHECKED(__pread64_chk)
CAIRN_EXPORT ssize_t readv(int file, const iovec *pieces, int count) {
  using Read = ssize_t(int, const iovec *, int);
  if (const View view = OpenViews::all().of(file)) return read_pieces(*view, -1, pieces, count);
  return CAIRN_CALL(Read, "readv")(file, pieces, count);
}
#define CAIRN_PREADV(NAME)                                                        \
  CAIRN_EXPORT ssize_t NAME(int file, const iovec *pieces, int count, off_t at) { \
    using Read = ssize_t(int, const iovec *, int, off_t);                         \
    if (const View view = OpenViews::all().of(file))                              \
      return at < 0 ? answer(EINVAL, 0) : read_pieces(*view, at, pieces, count);  \
    return CAIRN_CALL(Read, #NAME)(file, pieces, count, at);                      \
  }
CAIRN_PREADV(preadv)
CAIRN_PREADV(preadv64)

#define CAIRN_PREADV2(NAME)                                                                  \
  CAIRN_EXPORT ssize_t NAME(int file, const iovec *pieces, int count, off_t at, int flags) { \
    using Read = ssize_t(int, const iovec *, int, off_t, int);                               \
    if (const View view = OpenViews::all().of(file))                                         \
      return at < -1 ? answer(EINVAL, 0) : read_pieces(*view, at, pieces, count);            \
    return CAIRN_CALL(Read, #NAME)(file, pieces, count, at, flags);                          \
  }
CAIRN_PREADV2(preadv2)
CAIRN_PREADV2(preadv64v2)

#define CAIRN_SEEK(NAME)                                                           \
  CAIRN_EXPORT off_t NAME(int file, off_t by, int from) noexcept {                 \
    using Seek = off_t(int, off_t, int);                                           \
    if (const View view = OpenViews::all().of(file)) return seek(*view, by, from); \
    return CAIRN_CALL(Seek, #NAME)(file, by, from);                                \
  }
CAIRN_SEEK(lseek)
CAIRN_SEEK(lseek64)

CAIRN_EXPORT int fstat(int file, struct stat *status) noexcept {
  using Stat = int(int, struct stat *);
  return resized(CAIRN_CALL(Stat, "fstat")(file, status), file, status);
}
CAIRN_EXPORT int fstat64(int file, struct stat64 *status) noexcept {
  using Stat = int(int, struct stat64 *);
  return resized(CAIRN_CALL(Stat, "fstat64")(file, status), file, status);
}
#define CAIRN_STAT(NAME, STATUS)                                                   \
  CAIRN_EXPORT int NAME(const char *path, struct STATUS *status) noexcept {        \
    using Stat = int(const char *, struct STATUS *);                               \
    return resized(CAIRN_CALL(Stat, #NAME)(path, status), AT_FDCWD, path, status); \
  }
CAIRN_STAT(stat, stat)
CAIRN_STAT(stat64, stat64)
CAIRN_STAT(lstat, stat)
CAIRN_STAT(lstat64, stat64)
#define CAIRN_FSTATAT(NAME, STATUS)                                                              \
  CAIRN_EXPORT int NAME(int file, const char *path, struct STATUS *status, int flags) noexcept { \
    using Stat = int(int, const char *, struct STATUS *, int);                                   \
    const int result = CAIRN_CALL(Stat, #NAME)(file, path, status, flags);                       \
    return (flags & AT_EMPTY_PATH) != 0 && is_empty(path) ? resized(result, file, status)        \
                                                          : resized(result, file, path, status); \
  }
CAIRN_FSTATAT(fstatat, stat)
CAIRN_FSTATAT(fstatat64, stat64)
CAIRN_EXPORT int statx(int file, const char *path, int flags, unsigned int mask, struct statx *status) noexcept {
  using Stat = int(int, const char *, int, unsigned int, struct statx *);
  const int result = CAIRN_CALL(Stat, "statx")(file, path, flags, mask, status);
  if (result != 0 || (status->stx_mask & STATX_SIZE) == 0) return result;
  if ((flags & AT_EMPTY_PATH) != 0 && is_empty(path)) {
    if (const View view = OpenViews::all().of(file)) status->stx_size = view->size();
    return result;
  }
  const FileIdentity found{makedev(status->stx_dev_major, status->stx_dev_minor),
                           status->stx_ino,
                           static_cast<off_t>(status->stx_size),
                           status->stx_mtime.tv_sec,
                           status->stx_mtime.tv_nsec,
                           status->stx_mode};
  status->stx_size = static_cast<uint64_t>(size_by_name(file, path, found));
  return result;
}

// What programs that were linked with an older C library call.
#define CAIRN_FXSTAT(NAME, STATUS)                                                \
  CAIRN_EXPORT int NAME(int version, int file, struct STATUS *status) noexcept {  \
    using Stat = int(int, int, struct STATUS *);                                  \
    return resized(CAIRN_CALL(Stat, #NAME)(version, file, status), file, status); \
  }
CAIRN_FXSTAT(__fxstat, stat)
CAIRN_FXSTAT(__fxstat64, stat64)
#define CAIRN_XSTAT(NAME, STATUS)                                                           \
  CAIRN_EXPORT int NAME(int version, const char *path, struct STATUS *status) noexcept {    \
    using Stat = int(int, const char *, struct STATUS *);                                   \
    return resized(CAIRN_CALL(Stat, #NAME)(version, path, status), AT_FDCWD, path, status); \
  }
CAIRN_XSTAT(__xstat, stat)
CAIRN_XSTAT(__xstat64, stat64)
CAIRN_XSTAT(__lxstat, stat)
CAIRN_XSTAT(__lxstat64, stat64)
#define CAIRN_FXSTATAT(NAME, STATUS)                                                                          \
  CAIRN_EXPORT int NAME(int version, int file, const char *path, struct STATUS *status, int flags) noexcept { \
    using Stat = int(int, int, const char *, struct STATUS *, int);                                           \
    const int result = CAIRN_CALL(Stat, #NAME)(version, file, path, status, flags);                           \
    return (flags & AT_EMPTY_PATH) != 0 && is_empty(path) ? resized(result, file, status)                     \
                                                          : resized(result, file, path, status);              \
  }
CAIRN_FXSTATAT(__fxstatat, stat)
CAIRN_FXSTATAT(__fxstatat64, stat64)

#define CAIRN_MMAP(NAME)                                                                                        \
  CAIRN_EXPORT void *NAME(void *address, size_t size, int protection, int flags, int file, off_t at) noexcept { \
    using Map = void *(void *, size_t, int, int, int, off_t);                                                   \
    if (file >= 0 && (flags & MAP_ANONYMOUS) == 0) {                                                            \
      if (const View view = OpenViews::all().of(file)) return map(*view, address, size, protection, flags, at); \
    }                                                                                                           \
    return CAIRN_CALL(Map, #NAME)(address, size, protection, flags, file, at);                                  \
  }
CAIRN_MMAP(mmap)
CAIRN_MMAP(mmap64)

#define CAIRN_FOPEN(NAME)                                                \
  CAIRN_EXPORT FILE *NAME(const char *path, const char *mode) {          \
    using Open = FILE *(const char *, const char *);                     \
    return open_stream(CAIRN_CALL(Open, #NAME)(path, mode), path, mode); \
  }
CAIRN_FOPEN(fopen)
CAIRN_FOPEN(fopen64)
CAIRN_EXPORT FILE *fdopen(int file, const char *mode) noexcept {
  using Open = FILE *(int, const char *);
  if (OpenViews::all().of(file) != nullptr && mode[0] == 'r') return Streams::all().open(file, mode);
  return CAIRN_CALL(Open, "fdopen")(file, mode);
}

#define CAIRN_FILENO(NAME)                                       \
  CAIRN_EXPORT int NAME(FILE *stream) noexcept {                 \
    using Number = int(FILE *);                                  \
    const int file = Streams::all().file(stream);                \
    return file >= 0 ? file : CAIRN_CALL(Number, #NAME)(stream); \
  }
CAIRN_FILENO(fileno)
CAIRN_FILENO(fileno_unlocked)

CAIRN_EXPORT int dup(int file) noexcept {
  using Duplicate = int(int);
  return duplicated(file, CAIRN_CALL(Duplicate, "dup")(file));
}
CAIRN_EXPORT int dup2(int file, int other) noexcept {
  using Duplicate = int(int, int);
  return duplicated(file, CAIRN_CALL(Duplicate, "dup2")(file, other));
}
CAIRN_EXPORT int dup3(int file, int other, int flags) noexcept {
  using Duplicate = int(int, int, int);
  return duplicated(file, CAIRN_CALL(Duplicate, "dup3")(file, other, flags));
}
#define CAIRN_FCNTL(NAME)                                                                        \
  CAIRN_EXPORT int NAME(int file, int command, ...) {                                            \
    using Control = int(int, int, void *);                                                       \
    va_list rest;                                                                                \
    va_start(rest, command);                                                                     \
    void *const value = va_arg(rest, void *);                                                    \
    va_end(rest);                                                                                \
    const int result = CAIRN_CALL(Control, #NAME)(file, command, value);                         \
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(file, result) : result; \
  }
CAIRN_FCNTL(fcntl)
CAIRN_FCNTL(fcntl64)

#define CAIRN_SENDFILE(NAME)                                                     \
  CAIRN_EXPORT ssize_t NAME(int to, int from, off_t *at, size_t size) noexcept { \
    using Send = ssize_t(int, int, off_t *, size_t);                             \
    if (OpenViews::all().of(from) != nullptr) return answer(EINVAL, 0);          \
    return CAIRN_CALL(Send, #NAME)(to, from, at, size);                          \
  }
CAIRN_SENDFILE(sendfile)
CAIRN_SENDFILE(sendfile64)
CAIRN_EXPORT ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *to_at, size_t size, unsigned int flags) {
  using Copy = ssize_t(int, off64_t *, int, off64_t *, size_t, unsigned int);
  if (OpenViews::all().of(from) != nullptr) return answer(EXDEV, 0);
  return CAIRN_CALL(Copy, "copy_file_range")(from, at, to, to_at, size, flags);
}
// Cloning a file is copying it as it is.
CAIRN_EXPORT int ioctl(int file, unsigned long request, ...) noexcept {
  using Control = int(int, unsigned long, void *);
  constexpr unsigned long kClone = 0x40049409;  // FICLONE, whose argument is the file to clone
  va_list rest;
  va_start(rest, request);
  void *const value = va_arg(rest, void *);
  va_end(rest);
  if (request == kClone && OpenViews::all().of(static_cast<int>(reinterpret_cast<intptr_t>(value))) != nullptr) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return CAIRN_CALL(Control, "ioctl")(file, request, value);
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name,readability-identifier-naming)
