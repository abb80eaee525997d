// A ring whose tag counts the iterations, and whose message grows: nothing repeats, yet everything is predictable.
//
//   tags [STEPS] [same-size]
#include "pattern.h"

enum { kMost = 4096 };

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 100);
  const int same = said(argc, argv, "same-size");
  static int in[kMost], out[kMost];
  for (long i = 0; i < steps; ++i) {
    const int items = same ? 16 : 1 + (int)(i * 3 % kMost);
    const int tag = (int)(i % 30000);
    out[items - 1] = (int)(rank + 5 * i);
    MPI_Status status;
    MPI(MPI_Sendrecv(out, items, MPI_INT, right(), tag, in, kMost, MPI_INT, left(), tag, MPI_COMM_WORLD, &status));
    int got = -1;
    MPI(MPI_Get_count(&status, MPI_INT, &got));
    CHECK(got == items && status.MPI_TAG == tag && in[items - 1] == (int)(left() + 5 * i));
  }
  return done("tags", steps);
}
