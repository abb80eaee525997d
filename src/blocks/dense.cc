#include "blocks/dense.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/file_size.h"
#include "base/whole.h"

namespace cairn::blocks {
namespace {

constexpr uint64_t kLargestPage = 65536;  // in use anywhere
constexpr size_t kMostPath = 4080;

struct Mark {
  uint64_t words[2];
};

/// What rank 0 tells the others.
struct Invitation {
  Mark mark;
  char path[kMostPath];  ///< empty: there is no file
};

Mark new_mark() {
  Mark mark{};
  if (getrandom(&mark, sizeof mark, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof mark)) return mark;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  mark.words[0] = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  mark.words[1] = static_cast<uint64_t>(getpid());
  return mark;
}

/// The first error counts; some file systems tell only now that there was no room.
int closed(int file, int error) { return close(file) != 0 && error == 0 ? errno : error; }

int mark_file(const char *path, Target target, uint64_t mark_at, const Mark &mark) {
  if (!may_grow_to(mark_at + sizeof mark)) return EFBIG;
  if (target == Target::fresh) unlink(path);
  const int file =
      open(path, target == Target::fresh ? O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC : O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  return closed(file, write_at(file, mark_at, {reinterpret_cast<const uint8_t *>(&mark), sizeof mark}));
}

/// The file of the invitation, or -1 with `*error`.
int open_shared(const Invitation &invited, uint64_t mark_at, int *error) {
  *error = EFBIG;
  if (!may_grow_to(mark_at)) return -1;
  const int file = open(invited.path, O_RDWR | O_CLOEXEC);
  *error = errno;
  if (file < 0) return -1;
  Mark found{};
  const ssize_t got = pread(file, &found, sizeof found, static_cast<off_t>(mark_at));
  *error = got < 0 ? errno : 0;
  if (got == static_cast<ssize_t>(sizeof found) && memcmp(&found, &invited.mark, sizeof found) == 0) return file;
  if (*error == 0) *error = ESTALE;  // another file of that name
  close(file);
  return -1;
}

int write_pieces(int file, uint64_t at, std::span<const ByteView> pieces) {
  for (const ByteView piece : pieces) {
    const int error = write_at(file, at, piece);
    if (error != 0) return error;
    at += piece.size();
  }
  return 0;
}

/// True if no rank reports an error; else how many do.
bool agreed(const Calls &calls, int error, uint64_t *opposing) {
  *opposing = error == 0 ? 0 : 1;
  const bool heard = calls.sum(calls.context, opposing, 1);
  if (!heard) *opposing = 1;
  return heard && *opposing == 0;
}

}  // namespace

Dense write_dense(const Calls &calls, const char *path, Target target, uint64_t front, uint64_t total,
                  std::span<const ByteView> own) {
  Dense result;
  const bool root = calls.rank == 0;
  const uint64_t mark_at = (front + total + kLargestPage - 1) / kLargestPage * kLargestPage;
  Invitation invited{};
  if (root) {
    invited.mark = new_mark();
    result.error = strlen(path) < kMostPath ? mark_file(path, target, mark_at, invited.mark) : ENAMETOOLONG;
    if (result.error == 0) memcpy(invited.path, path, strlen(path) + 1);
  }
  if (!calls.broadcast(calls.context, &invited, sizeof invited)) invited.path[0] = '\0';
  int file = -1;
  if (invited.path[0] != '\0') {
    file = open_shared(invited, mark_at, &result.error);
  } else if (result.error == 0) {
    result.error = ENOENT;
  }
  const bool together = agreed(calls, result.error, &result.opposing);
  uint64_t size = 0;
  for (const ByteView piece : own) size += piece.size();
  const bool placed = calls.sum_below(calls.context, size, &result.begin) && result.begin + size <= total;
  if (together) {
    result.error = placed ? write_pieces(file, front + result.begin, own) : EIO;
    // The mark goes; nobody looks for it any more.
    if (root && ftruncate(file, static_cast<off_t>(front + total)) != 0 && result.error == 0) result.error = errno;
  }
  if (file >= 0) result.error = closed(file, result.error);
  uint64_t failed = 0;
  const bool all = agreed(calls, together ? result.error : 1, &failed);
  if (together) result.opposing = failed;
  result.written = together && all;
  if (root && !result.written) {
    if (target == Target::fresh) {
      unlink(path);
    } else if (truncate(path, static_cast<off_t>(front)) != 0 && result.error == 0) {
      result.error = errno;
    }
  }
  return result;
}

}  // namespace cairn::blocks
