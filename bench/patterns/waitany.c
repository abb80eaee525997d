// Random neighbours: Irecv and Isend to each, completed by Waitany in whatever order they come.
//
//   waitany [STEPS [SEED]] [changing]
//
// Each rank draws three partners; who is drawn also receives and sends, so that the pattern is symmetric. Every rank
// draws for all, from the seed, and all agree. changing: partners are drawn again before each step.
#include "pattern.h"

enum { kDrawn = 3, kItems = 16 };

static unsigned char *linked;  // size x size, symmetric

static void draw_partners(unsigned long long *state) {
  memset(linked, 0, (size_t)size * (size_t)size);
  for (int a = 0; a < size; ++a) {
    for (int k = 0; k < kDrawn && size > 1; ++k) {
      const int b = (int)(draw(state) % (unsigned)size);
      if (b != a) linked[a * size + b] = linked[b * size + a] = 1;
    }
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 10);
  unsigned long long state = (unsigned long long)number(argc, argv, 2, 1);
  const int changing = said(argc, argv, "changing");
  linked = room((size_t)size * (size_t)size);
  int(*in)[kItems] = room(sizeof(int[kItems]) * (size_t)size);
  int(*out)[kItems] = room(sizeof(int[kItems]) * (size_t)size);
  MPI_Request *request = room(sizeof(MPI_Request) * 2 * (size_t)size);
  int *partner = room(sizeof(int) * (size_t)size);
  int partners = 0;

  for (long i = 0; i < steps; ++i) {
    if (i == 0 || changing) {
      draw_partners(&state);
      partners = 0;
      for (int other = 0; other < size; ++other)
        if (linked[rank * size + other]) partner[partners++] = other;
    }
    for (int k = 0; k < partners; ++k)
      MPI(MPI_Irecv(in[k], kItems, MPI_INT, partner[k], 5, MPI_COMM_WORLD, &request[k]));
    for (int k = 0; k < partners; ++k) {
      for (int at = 0; at < kItems; ++at) out[k][at] = (int)(rank * 1000 + i + at);
      MPI(MPI_Isend(out[k], kItems, MPI_INT, partner[k], 5, MPI_COMM_WORLD, &request[partners + k]));
    }
    for (int left_over = 2 * partners; left_over > 0; --left_over) {
      int index = -1;
      MPI_Status status;
      MPI(MPI_Waitany(2 * partners, request, &index, &status));
      CHECK(index >= 0 && index < 2 * partners && request[index] == MPI_REQUEST_NULL);
      if (index >= partners) continue;
      CHECK(status.MPI_SOURCE == partner[index]);
      for (int at = 0; at < kItems; ++at) CHECK(in[index][at] == (int)(partner[index] * 1000 + i + at));
    }
  }
  return done("waitany", steps);
}
