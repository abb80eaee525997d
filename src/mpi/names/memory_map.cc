#include "mpi/names/memory_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace cairn::recorder {
namespace {

uint64_t take_hex(const char *&text) {
  char *end = nullptr;
  const uint64_t value = std::strtoull(text, &end, 16);
  text = end;
  return value;
}

void skip_word(const char *&text) {
  while (*text != '\0' && *text != ' ') ++text;
  while (*text == ' ') ++text;
}

/// "low-high perms offset device inode   path"
MapEntry parse(const char *line) {
  MapEntry entry = {};
  entry.low = take_hex(line);
  if (*line == '-') ++line;
  entry.high = take_hex(line);
  skip_word(line);
  entry.executable = std::strlen(line) > 2 && line[2] == 'x';
  skip_word(line);
  entry.file_offset = take_hex(line);
  skip_word(line);
  skip_word(line);  // device
  skip_word(line);  // inode
  entry.path = line;
  return entry;
}

}  // namespace

void visit_mappings(bool (*visit)(const MapEntry &entry, void *context), void *context) {
  const int saved_errno = errno;
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    errno = saved_errno;
    return;
  }
  char buffer[8192];  // a line is at most 4,096 and some
  size_t filled = 0;
  bool more = true;
  while (more) {
    const ssize_t got = ::read(file, buffer + filled, sizeof buffer - 1 - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
    buffer[filled] = '\0';
    size_t start = 0;
    for (char *end = nullptr; more && (end = std::strchr(buffer + start, '\n')) != nullptr;) {
      *end = '\0';
      more = visit(parse(buffer + start), context);
      start = static_cast<size_t>(end - buffer) + 1;
    }
    if (start == 0 && filled == sizeof buffer - 1) break;  // no line is that long
    std::memmove(buffer, buffer + start, filled - start);
    filled -= start;
  }
  close(file);
  errno = saved_errno;
}

}  // namespace cairn::recorder
