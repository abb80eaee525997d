// _exit, quick_exit and exec, forwarded: ways in which a process ends, or becomes another program, without running
// destructors. The recorder is told, so that nobody takes it for killed; nothing is done that a signal handler, or the
// child of a vfork, may not do.
#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi/preload/state.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace cairn::preload {
namespace {

void tell(bool ends) {
  void (*leaves)(bool) = __atomic_load_n(&shared.leaves, __ATOMIC_ACQUIRE);
  if (leaves != nullptr && getpid() == shared.recording_process) leaves(ends);
}

struct Next {
  void (*exit_group)(int);
  void (*quick)(int);
  int (*execve)(const char *, char *const *, char *const *);
  int (*execv)(const char *, char *const *);
  int (*execvp)(const char *, char *const *);
  int (*execvpe)(const char *, char *const *, char *const *);
  int (*fexecve)(int, char *const *, char *const *);
};
Next next;

/// Found beforehand: a handler must not ask the dynamic linker.
__attribute__((constructor)) void prepare() {
  next_of(next.exit_group, "_exit");
  next_of(next.quick, "quick_exit");
  next_of(next.execve, "execve");
  next_of(next.execv, "execv");
  next_of(next.execvp, "execvp");
  next_of(next.execvpe, "execvpe");
  next_of(next.fexecve, "fexecve");
}

[[noreturn]] void end(int status) {
  tell(true);
  if (next.exit_group != nullptr) next.exit_group(status);
  for (;;) syscall(SYS_exit_group, status);
}

/// Calls `function`, which only comes back if it failed.
template <typename Function, typename... Arguments>
int become(Function *&function, const char *name, Arguments... arguments) {
  auto *const found = next_of(function, name);
  if (found == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  tell(true);
  const int result = found(arguments...);
  const int saved_errno = errno;
  tell(false);
  errno = saved_errno;
  return result;
}

}  // namespace
}  // namespace cairn::preload

using namespace cairn::preload;

EXPORTED void _exit(int status) { end(status); }
EXPORTED void _Exit(int status) { end(status); }

EXPORTED void quick_exit(int status) {
  tell(true);
  if (next.quick != nullptr) next.quick(status);
  end(status);
}

EXPORTED int execve(const char *path, char *const *arguments, char *const *environment) {
  return become(next.execve, "execve", path, arguments, environment);
}
EXPORTED int execv(const char *path, char *const *arguments) { return become(next.execv, "execv", path, arguments); }
EXPORTED int execvp(const char *file, char *const *arguments) { return become(next.execvp, "execvp", file, arguments); }
EXPORTED int execvpe(const char *file, char *const *arguments, char *const *environment) {
  return become(next.execvpe, "execvpe", file, arguments, environment);
}
EXPORTED int fexecve(int file, char *const *arguments, char *const *environment) {
  return become(next.fexecve, "fexecve", file, arguments, environment);
}

/// `first` and what follows it up to a null pointer, as an array on the caller's stack; `rest` stands behind that.
#define CAIRN_ARGUMENTS(array, first, rest)                                  \
  va_list rest;                                                              \
  va_start(rest, first);                                                     \
  size_t count = 1;                                                          \
  while (va_arg(rest, char *) != nullptr) ++count;                           \
  va_end(rest);                                                              \
  char **array = static_cast<char **>(alloca((count + 1) * sizeof(char *))); \
  va_start(rest, first);                                                     \
  array[0] = const_cast<char *>(first);                                      \
  for (size_t i = 1; i <= count; ++i) array[i] = va_arg(rest, char *)

EXPORTED int execl(const char *path, const char *first, ...) {
  CAIRN_ARGUMENTS(arguments, first, rest);
  va_end(rest);
  return execv(path, arguments);
}
EXPORTED int execlp(const char *file, const char *first, ...) {
  CAIRN_ARGUMENTS(arguments, first, rest);
  va_end(rest);
  return execvp(file, arguments);
}
EXPORTED int execle(const char *path, const char *first, ...) {
  CAIRN_ARGUMENTS(arguments, first, rest);
  char *const *environment = va_arg(rest, char *const *);
  va_end(rest);
  return execve(path, arguments, environment);
}
