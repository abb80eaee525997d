// Programs that go one way where a poll has found something, and another where it has not: on each rank and in each
// step as a number drawn there will have it, whatever MPI's progress is. The first steps are the same on all ranks, so
// that all come to their calls in one order.
#include "check.h"

enum { kSteps = 300, kAlike = 4 };

static unsigned state;

static int drawn(int step) {
  if (step < kAlike) return step % 2;
  state = state * 1103515245u + 12345u;
  return (int)(state >> 16) % 3 == 0;
}

// Without a call: what is called within others stays as it is.
static int query(void *extra, MPI_Status *status) {
  (void)extra;
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int freed(void *extra) {
  (void)extra;
  return MPI_SUCCESS;
}
static int cancelled(void *extra, int complete) {
  (void)extra;
  (void)complete;
  return MPI_SUCCESS;
}

static MPI_Request ended, open;

/// Whether it has been drawn that something is found: asks MPI for a request that is complete, or for one that is not.
static int found(int step) {
  const int which = drawn(step);
  int flag = -1;
  MPI(MPI_Request_get_status(which ? ended : open, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag == !which);
  return flag;
}

static void to_self(int step, int tag, MPI_Comm self) {
  int out = step, in = -1;
  MPI(MPI_Sendrecv(&out, 1, MPI_INT, 0, tag, &in, 1, MPI_INT, 0, tag, self, MPI_STATUS_IGNORE));
  CHECK(in == step);
}

/// Early, a message goes out and comes in; else there is more to do, and something to look at within that.
static void either(int step, MPI_Comm self) {
  int flag = -1;
  if (found(step)) {
    to_self(step, step, self);
  } else {
    MPI(MPI_Send(&step, 1, MPI_INT, MPI_PROC_NULL, 7, self));
    const int which = drawn(step + 1);
    MPI(MPI_Request_get_status(which ? ended : open, &flag, MPI_STATUS_IGNORE));
    if (flag) MPI(MPI_Send(&step, 0, MPI_INT, MPI_PROC_NULL, 8, self));
    MPI(MPI_Send(&step, 1, MPI_INT, MPI_PROC_NULL, 9, self));
  }
}

/// Takes what has come, if something has.
static void perhaps(int step, MPI_Comm self) {
  int flag = -1;
  const int which = drawn(step);
  MPI(MPI_Request_get_status(which ? ended : open, &flag, MPI_STATUS_IGNORE));
  if (flag) MPI(MPI_Sendrecv_replace(&step, 1, MPI_INT, 0, 3, 0, 3, self, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  state = 17u + 1000u * (unsigned)rank;
  MPI_Comm self;
  MPI(MPI_Comm_dup(MPI_COMM_SELF, &self));
  MPI(MPI_Grequest_start(query, freed, cancelled, NULL, &ended));
  MPI(MPI_Grequest_start(query, freed, cancelled, NULL, &open));
  MPI(MPI_Grequest_complete(ended));
  for (int step = 0; step < kSteps; ++step) {
    double mine = step, all = 0;
    MPI(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    either(step, self);
    perhaps(step, self);
  }
  MPI(MPI_Grequest_complete(open));
  MPI(MPI_Wait(&ended, MPI_STATUS_IGNORE));
  MPI(MPI_Wait(&open, MPI_STATUS_IGNORE));
  MPI(MPI_Comm_free(&self));
  return finish();
}
