// Preloaded into MPICH programs with more ranks than cores: MPICH spins in ucp_worker_progress; when that finds nothing
// several times in a row, sleep a moment so that the rank that has work can run. Changes how ranks wait, not what they
// do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

enum { kPatience = 20 };

unsigned ucp_worker_progress(void *worker);

/// Where an interpreter has loaded MPI for one of its modules alone (mpi4py), no search by symbol finds it.
static void *find_next(void) {
  void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (found != NULL) return found;
  void *library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
  return library == NULL ? NULL : dlsym(library, "ucp_worker_progress");
}

unsigned ucp_worker_progress(void *worker) {
  static unsigned (*next)(void *);
  static __thread unsigned idle;
  if (next == NULL) *(void **)&next = find_next();
  const unsigned progress = next(worker);
  if (progress != 0) {
    idle = 0;
  } else if (++idle >= kPatience) {
    const struct timespec moment = {0, 1000};
    nanosleep(&moment, NULL);
  }
  return progress;
}
