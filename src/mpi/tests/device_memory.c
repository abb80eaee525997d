// Messages between allocations on a device, which the driver in libcuda.so.1 gives: a stand-in for it will do
// (../names/fake_cuda.c).
//   device_memory ring       two allocations; the second is freed, and a larger one comes
//   device_memory threads    three threads, each with an allocation of its own
#include <dlfcn.h>
#include <pthread.h>

#include "check.h"

enum { kFirst = 1 << 20, kSecond = 3000, kThird = 1 << 18, kThreads = 3 };

static void *driver;
static void *context;

static int call(const char *name, unsigned long long a, unsigned long long b, unsigned long long c) {
  // All arguments of the functions that are called here are integers or pointers.
  int (*function)(unsigned long long, unsigned long long, unsigned long long) =
      (int (*)(unsigned long long, unsigned long long, unsigned long long))dlsym(driver, name);
  return function == NULL ? -1 : function(a, b, c);
}

static void open_device(void) {
  int device = 0;
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(driver != NULL);
  CHECK(call("cuInit", 0, 0, 0) == 0);
  CHECK(call("cuDeviceGet", (unsigned long long)&device, 0, 0) == 0);
  CHECK(call("cuDevicePrimaryCtxRetain", (unsigned long long)&context, (unsigned long long)device, 0) == 0);
  CHECK(call("cuCtxSetCurrent", (unsigned long long)context, 0, 0) == 0);
}

static char *allocate(size_t bytes) {
  char *block = NULL;
  CHECK(call("cuMemAlloc_v2", (unsigned long long)&block, bytes, 0) == 0);
  CHECK(call("cuMemsetD8_v2", (unsigned long long)block, 0, bytes) == 0);
  return block;
}

static void release(char *block) { CHECK(call("cuMemFree_v2", (unsigned long long)block, 0, 0) == 0); }

static void exchange(char *block, int bytes, int tag) {
  MPI(MPI_Sendrecv(block, bytes / 2, MPI_BYTE, right(), tag, block + bytes / 2, bytes / 2, MPI_BYTE, left(), tag,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void ring(void) {
  char *first = allocate(kFirst);
  char *second = allocate(kSecond);
  double sum = 0;
  MPI_Datatype column;
  MPI(MPI_Type_vector(100, 8, 64, MPI_BYTE, &column));
  MPI(MPI_Type_commit(&column));
  for (int i = 0; i < 4; ++i) {
    exchange(first, kFirst, 0);
    exchange(second, kSecond, 0);
    MPI(MPI_Sendrecv(first + 64, 1, column, right(), 1, first + kFirst / 2, 1, column, left(), 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  }
  release(second);
  char *third = allocate(kThird);
  exchange(third, kThird, 2);
  exchange(first, kFirst, 2);
  MPI(MPI_Type_free(&column));
  release(third);
  release(first);
}

static void *exchange_alone(void *number) {
  const int tag = *(int *)number;
  CHECK(call("cuCtxSetCurrent", (unsigned long long)context, 0, 0) == 0);
  char *block = allocate(kSecond * (size_t)(tag + 1));
  for (int i = 0; i < 10; ++i) exchange(block, kSecond * (tag + 1), tag);
  release(block);
  return NULL;
}

static void threads(void) {
  pthread_t others[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    CHECK(pthread_create(&others[i], NULL, exchange_alone, &numbers[i]) == 0);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(others[i], NULL);
}

int main(int argc, char **argv) {
  const int several = argc > 1 && strcmp(argv[1], "threads") == 0;
  int provided;
  open_device();
  MPI(MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
  if (several && provided < MPI_THREAD_MULTIPLE) {
    MPI(MPI_Finalize());
    return 77;
  }
  who();
  if (several) {
    threads();
  } else {
    ring();
  }
  return finish();
}
