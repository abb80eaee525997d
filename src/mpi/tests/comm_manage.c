// Communicators made, asked and freed in every way, with members that take part and members that don't.
#include "check.h"

static void use(MPI_Comm comm) {
  int members = 0;
  int one = 1;
  int sum = 0;
  MPI(MPI_Comm_size(comm, &members));
  MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK(sum == members);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  MPI_Comm dup;
  MPI_Comm half;
  MPI_Comm some;
  MPI_Comm idup;
  MPI_Comm node;
  MPI_Comm first;
  MPI_Comm nested;
  MPI_Comm with_info;
  MPI_Request request;
  MPI_Group world;
  MPI_Group members;
  MPI_Info info;
  int result = 0;
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
  use(dup);
  MPI(MPI_Comm_compare(dup, MPI_COMM_WORLD, &result));
  CHECK(result == MPI_CONGRUENT);
  MPI(MPI_Comm_split(dup, rank % 2, -rank, &half));
  use(half);
  MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &some));
  CHECK((some == MPI_COMM_NULL) == (rank == 0));
  if (some != MPI_COMM_NULL) use(some);
  MPI(MPI_Comm_idup(dup, &idup, &request));
  // Early, but mpi4py does it, and neither library minds.
  MPI(MPI_Comm_set_errhandler(idup, MPI_ERRORS_RETURN));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  use(idup);
  MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  use(node);
  MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
  int range[1][3] = {{0, size - 1, 2}};
  MPI(MPI_Group_range_incl(world, 1, range, &members));
  MPI(MPI_Comm_create(MPI_COMM_WORLD, members, &first));
  CHECK((first != MPI_COMM_NULL) == (rank % 2 == 0));
  if (rank % 2 == 0) {
    use(first);
    for (int tag = 0; tag < 2; ++tag) {
      MPI(MPI_Comm_create_group(MPI_COMM_WORLD, members, tag, &nested));
      use(nested);
      MPI(MPI_Comm_free(&nested));
    }
  }
  MPI(MPI_Info_create(&info));
  MPI(MPI_Info_set(info, "purpose", "test"));
  MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with_info));
  MPI(MPI_Comm_set_info(with_info, info));
  MPI_Info got;
  MPI(MPI_Comm_get_info(with_info, &got));
  MPI(MPI_Info_free(&got));
  MPI(MPI_Info_free(&info));
  // Freed and made again: names come back. Looked up by another language's number, which makes none more.
  for (int i = 0; i < 4; ++i) {
    MPI(MPI_Comm_dup(half, &nested));
    MPI_Comm again;
    MPI(MPI_Comm_dup(nested, &again));
    MPI_Comm looked_up = MPI_Comm_f2c(MPI_Comm_c2f(again));
    CHECK(looked_up == again);
    use(looked_up);
    MPI(MPI_Comm_free(i % 2 ? &nested : &again));
    MPI(MPI_Comm_free(i % 2 ? &again : &nested));
  }
  // Freed while a message is on its way.
  int in = 0;
  MPI_Request both[2];
  MPI_Comm brief;
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &brief));
  MPI(MPI_Irecv(&in, 1, MPI_INT, left(), 0, brief, &both[0]));
  MPI(MPI_Isend(&rank, 1, MPI_INT, right(), 0, brief, &both[1]));
  MPI(MPI_Comm_free(&brief));
  MPI(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
  CHECK(in == left() && brief == MPI_COMM_NULL);
  use(MPI_COMM_SELF);
  MPI(MPI_Comm_compare(half, MPI_COMM_SELF, &result));
  MPI(MPI_Group_free(&members));
  MPI(MPI_Group_free(&world));
  MPI(MPI_Comm_free(&with_info));
  if (first != MPI_COMM_NULL) MPI(MPI_Comm_free(&first));
  MPI(MPI_Comm_free(&node));
  MPI(MPI_Comm_free(&idup));
  if (some != MPI_COMM_NULL) MPI(MPI_Comm_free(&some));
  MPI(MPI_Comm_free(&half));
  MPI(MPI_Comm_disconnect(&dup));
  return finish();
}
