// Buffers of every kind: heap that is freed, moved and handed out again, inner and overlapping places, the stack,
// statics, mappings, memory of MPI's, NULL.
#include <sys/mman.h>

#include "check.h"

static int in_bss[256];
static int in_data[4] = {1, 2, 3, 4};

static void self(void *out, void *in, int n) {
  MPI(MPI_Sendrecv(out, n, MPI_INT, rank, 0, in, n, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void on_the_stack(int depth) {
  int here[4] = {depth, 1, 2, 3};
  int there[4] = {0};
  self(here, there, 4);
  CHECK(there[0] == depth);
  if (depth > 0) on_the_stack(depth - 1);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  for (int i = 0; i < 5; ++i) {
    int *a = malloc(1000);
    int *b = calloc(100, sizeof(int));
    a[0] = i;
    self(a, b, 1);
    CHECK(b[0] == i);
    self(b + 10, b + 40, 20);
    self(b, in_bss + i, 1);
    if (i % 2 == 0) free(a);
    int *c = malloc(300);
    c[0] = 7;
    self(c, b + 1, 1);
    b = realloc(b, 1 << (10 + 2 * i));
    CHECK(b[1] == 7);
    b[2] = 9;
    self(b + 2, c, 1);
    CHECK(c[0] == 9);
    free(c);
    free(b);
    if (i % 2 == 1) free(a);
  }
  on_the_stack(5);
  self(in_data, in_bss + 100, 4);
  CHECK(in_bss[103] == 4);
  int *mapped = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  mapped[5] = 55;
  self(mapped + 5, in_bss, 1);
  CHECK(in_bss[0] == 55);
  munmap(mapped, 1 << 16);
  for (int i = 0; i < 3; ++i) {
    int *memory = NULL;
    MPI(MPI_Alloc_mem(256, MPI_INFO_NULL, &memory));
    memory[0] = i;
    self(memory, memory + 1, 1);
    CHECK(memory[1] == i);
    MPI(MPI_Free_mem(memory));
  }
  MPI(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  self(in_bss, in_bss + 8, 0);
  void *aligned = NULL;
  CHECK(posix_memalign(&aligned, 4096, 8192) == 0);
  self(in_data, aligned, 4);
  free(aligned);
  MPI_Aint address = 0;
  int *somewhere = malloc(64);
  MPI(MPI_Get_address(&somewhere[4], &address));
  CHECK((char *)address == (char *)&somewhere[4]);
  free(somewhere);
  return finish();
}
