// setuid, setgid and their like, forwarded: a recorder is told when the program becomes another user, as whom it may be
// unable to enter the spool, and MPI to reach processes that it has not reached yet.
#include <errno.h>
#include <unistd.h>

#include "mpi/preload/state.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace cairn::preload {
namespace {

struct Ids {
  uid_t users[3];
  gid_t groups[3];
  Ids() {
    getresuid(&users[0], &users[1], &users[2]);
    getresgid(&groups[0], &groups[1], &groups[2]);
  }
  bool operator==(const Ids &other) const {
    for (int i = 0; i < 3; ++i) {
      if (users[i] != other.users[i] || groups[i] != other.groups[i]) return false;
    }
    return true;
  }
};

void tell(bool changes) {
  void (*changes_user)(bool) = __atomic_load_n(&shared.changes_user, __ATOMIC_ACQUIRE);
  if (changes_user == nullptr || getpid() != shared.recording_process) return;
  const int saved_errno = errno;
  changes_user(changes);
  errno = saved_errno;
}

template <typename... Wanted>
int change(int (*&function)(Wanted...), const char *name, Wanted... wanted) {
  auto *const found = next_of(function, name);
  if (found == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const Ids before;
  tell(true);
  const int result = found(wanted...);
  if (before == Ids()) tell(false);
  return result;
}

int (*next_setuid)(uid_t);
int (*next_seteuid)(uid_t);
int (*next_setreuid)(uid_t, uid_t);
int (*next_setresuid)(uid_t, uid_t, uid_t);
int (*next_setgid)(gid_t);
int (*next_setegid)(gid_t);
int (*next_setregid)(gid_t, gid_t);
int (*next_setresgid)(gid_t, gid_t, gid_t);

}  // namespace
}  // namespace cairn::preload

using namespace cairn::preload;

EXPORTED int setuid(uid_t user) { return change(next_setuid, "setuid", user); }
EXPORTED int seteuid(uid_t user) { return change(next_seteuid, "seteuid", user); }
EXPORTED int setreuid(uid_t real, uid_t effective) { return change(next_setreuid, "setreuid", real, effective); }
EXPORTED int setresuid(uid_t real, uid_t effective, uid_t saved) {
  return change(next_setresuid, "setresuid", real, effective, saved);
}
EXPORTED int setgid(gid_t group) { return change(next_setgid, "setgid", group); }
EXPORTED int setegid(gid_t group) { return change(next_setegid, "setegid", group); }
EXPORTED int setregid(gid_t real, gid_t effective) { return change(next_setregid, "setregid", real, effective); }
EXPORTED int setresgid(gid_t real, gid_t effective, gid_t saved) {
  return change(next_setresgid, "setresgid", real, effective, saved);
}
