#include "mpi/store/descriptors.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>

namespace cairn::recorder {
namespace {

constexpr int kMostOpen = 4;
constexpr size_t kStack = size_t{1} << 20;
constexpr unsigned kUnshare = 1U << 1;  // CLOSE_RANGE_UNSHARE

constinit thread_local bool makes_thread __attribute__((tls_model("initial-exec"))) = false;
constinit thread_local bool has_own __attribute__((tls_model("initial-exec"))) = false;

struct Work {
  void (*run)(void *);
  void *argument;
};

void *work_apart(void *argument) {
  const auto &work = *static_cast<const Work *>(argument);
  take_own_descriptors(false);
  work.run(work.argument);
  return nullptr;
}

bool run_apart(Work work) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStack);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited
  pthread_t thread{};
  bool made = false;
  {
    const MakesThread makes;
    made = pthread_create(&thread, &attributes, work_apart, &work) == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (made) pthread_join(thread, nullptr);
  return made;
}

}  // namespace

bool has_descriptors() {
  int opened[kMostOpen];
  int count = 0;
  while (count < kMostOpen && (opened[count] = open("/", O_PATH | O_CLOEXEC)) >= 0) ++count;
  const bool used_up = count < kMostOpen && errno == EMFILE;
  for (int i = 0; i < count; ++i) close(opened[i]);
  return !used_up;
}

bool take_own_descriptors(bool for_long) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 0U, UINT_MAX, kUnshare) == 0) return has_own = true;
#endif
  // An older kernel: some of the copies of the process's descriptors make room.
  constexpr int kMade = 64;
  if (for_long || unshare(CLONE_FILES) != 0) return false;
  for (int file = 0; file < kMade; ++file) close(file);
  return has_own = true;
}

bool has_own_descriptors() { return has_own; }

bool is_making_thread() { return makes_thread; }
MakesThread::MakesThread() { makes_thread = true; }
MakesThread::~MakesThread() { makes_thread = false; }

void with_descriptors(void (*run)(void *), void *argument) {
  if (has_own || has_descriptors() || !run_apart({run, argument})) run(argument);
}

}  // namespace cairn::recorder
