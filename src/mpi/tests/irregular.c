// Calls whose signatures hardly ever repeat: every message has a size and a tag of its own.
// usage: irregular messages
#include <stdint.h>

#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  const int messages = argc > 1 ? atoi(argv[1]) : 20000;
  static char out[4096];
  static char in[4096];
  uint32_t state = 12345;
  for (int i = 0; i < messages; ++i) {
    state = state * 1664525u + 1013904223u;
    const int count = (int)(state >> 20);
    const int tag = (int)(state >> 8 & 0x7fff);
    MPI_Request request;
    MPI_Status status;
    out[0] = (char)i;
    MPI(MPI_Irecv(in, count, MPI_CHAR, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &request));
    MPI(MPI_Send(out, count, MPI_CHAR, (rank + 1) % size, tag, MPI_COMM_WORLD));
    MPI(MPI_Wait(&request, &status));
    int got = -1;
    MPI(MPI_Get_count(&status, MPI_CHAR, &got));
    CHECK(got == count);
    CHECK(count == 0 || in[0] == (char)i);
  }
  return finish();
}
