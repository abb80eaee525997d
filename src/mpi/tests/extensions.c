// Functions that MPICH has beyond the standard: requests that MPI asks for their progress, what the library supports.
// (Those for recovery from failures end Debian's MPICH with a failed assertion: its device does not have them.)
#include "check.h"

#ifdef MPICH
static int asked = 0;
static int waited = 0;

static int query(void *extra, MPI_Status *status) {
  MPI(MPI_Status_set_elements(status, MPI_BYTE, *(int *)extra));
  MPI(MPI_Status_set_cancelled(status, 0));
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

static int release(void *extra) {
  (void)extra;
  return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

static MPI_Request polled;

static int poll_for(void *extra, MPI_Status *status) {
  (void)extra, (void)status;
  ++asked;
  MPI(MPI_Grequest_complete(polled));
  return MPI_SUCCESS;
}

static int wait_for(int count, void **extra, double timeout, MPI_Status *status) {
  (void)count, (void)extra, (void)timeout, (void)status;
  ++waited;
  MPI(MPI_Grequest_complete(polled));
  return MPI_SUCCESS;
}

static void requests(void) {
  int bytes = 12;
  int count = 0;
  MPI_Status status;
  MPI(MPIX_Grequest_start(query, release, cancel, poll_for, wait_for, &bytes, &polled));
  MPI(MPI_Wait(&polled, &status));
  MPI(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK(count == 12 && asked + waited == 1);
  MPIX_Grequest_class kind;
  MPI(MPIX_Grequest_class_create(query, release, cancel, poll_for, wait_for, &kind));
  for (int i = 0; i < 3; ++i) {
    MPI(MPIX_Grequest_class_allocate(kind, &bytes, &polled));
    MPI(MPI_Wait(&polled, &status));
  }
}

static void support(void) {
  int there = -1;
  MPI(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &there));
  CHECK(there == MPIX_Query_cuda_support());
  (void)MPIX_Query_hip_support();
  (void)MPIX_Query_ze_support();
}
#endif

int main(int argc, char **argv) {
  start(&argc, &argv);
#ifdef MPICH
  requests();
  support();
#endif
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  return finish();
}
