// Communicators that are made over some of their parent's processes only, with one tag: whoever is in several must be
// able to tell them apart, and all members must agree.
#include "check.h"

enum { kTag = 7 };

/// Of these ranks of the world, twice; NULL handles where this rank is none of them.
static void of_group(int n, const int *ranks, MPI_Comm made[2]) {
  MPI_Group world, group;
  MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MPI(MPI_Group_incl(world, n, ranks, &group));
  int place = 0;
  MPI(MPI_Group_rank(group, &place));
  made[0] = made[1] = MPI_COMM_NULL;
  for (int i = 0; i < 2 && place != MPI_UNDEFINED; ++i) {
    MPI(MPI_Comm_create_group(MPI_COMM_WORLD, group, kTag, &made[i]));
    int members = 0;
    MPI(MPI_Comm_size(made[i], &members));
    CHECK(members == n);
  }
  MPI(MPI_Group_free(&group));
  MPI(MPI_Group_free(&world));
}

/// Between ranks of the world before `middle` and those from there on.
static MPI_Comm across(int middle) {
  MPI_Comm side, both;
  MPI(MPI_Comm_split(MPI_COMM_WORLD, rank < middle, 0, &side));
  MPI(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank < middle ? middle : 0, kTag, &both));
  int others = 0;
  MPI(MPI_Comm_remote_size(both, &others));
  CHECK(others == (rank < middle ? size - middle : middle));
  MPI(MPI_Comm_free(&side));
  return both;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(size >= 3);
  MPI_Comm made[10];
  const int all[] = {0, 1, 2}, even[] = {0, 2}, turned[] = {2, 1, 0};
  of_group(2, all, &made[0]);
  of_group(2, even, &made[2]);
  of_group(3, all, &made[4]);
  of_group(3, turned, &made[6]);
  made[8] = across(1);
  made[9] = across(2);
  for (int i = 0; i < 10; ++i) {
    if (made[i] != MPI_COMM_NULL) MPI(MPI_Barrier(made[i]));
  }
  for (int i = 0; i < 10; ++i) {
    if (made[i] != MPI_COMM_NULL) MPI(MPI_Comm_free(&made[i]));
  }
  // Again and again: no two of them live at one time.
  for (int i = 0; i < 20; ++i) {
    MPI_Comm again[2];
    of_group(2, all, again);
    for (int k = 0; k < 2; ++k) {
      if (again[k] != MPI_COMM_NULL) MPI(MPI_Comm_free(&again[k]));
    }
    MPI_Comm both = across(1);
    MPI(MPI_Comm_free(&both));
  }
  return finish();
}
