// The _c functions with MPI_Count (MPI 4); elsewhere nothing but a barrier.
#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
#if MPI_VERSION >= 4
  enum { kMax = 64 };
  CHECK(size <= 16);
  int out[kMax];
  int in[kMax];
  MPI_Count counts[kMax];
  MPI_Aint displs[kMax];
  MPI_Datatype types[kMax];
  MPI_Status status;
  MPI_Request request[2];
  MPI_Count count = 0;
  for (int i = 0; i < kMax; ++i) {
    out[i] = 100 * rank + i;
    counts[i] = 1;
    displs[i] = i;
    types[i] = MPI_INT;
  }
  MPI(MPI_Irecv_c(in, kMax, MPI_INT, left(), 0, MPI_COMM_WORLD, &request[0]));
  MPI(MPI_Send_c(out, 7, MPI_INT, right(), 0, MPI_COMM_WORLD));
  MPI(MPI_Wait(&request[0], &status));
  MPI(MPI_Get_count_c(&status, MPI_INT, &count));
  CHECK(count == 7 && in[6] == 100 * left() + 6);
  MPI(MPI_Get_elements_c(&status, MPI_INT, &count));
  CHECK(count == 7);
  MPI(MPI_Isend_c(out, 1, MPI_INT, right(), 1, MPI_COMM_WORLD, &request[0]));
  MPI(MPI_Recv_c(in, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, &status));
  MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  MPI(MPI_Sendrecv_c(out, 2, MPI_INT, right(), 2, in, 2, MPI_INT, left(), 2, MPI_COMM_WORLD, &status));
  MPI(MPI_Recv_init_c(in, 1, MPI_INT, left(), 3, MPI_COMM_WORLD, &request[0]));
  MPI(MPI_Send_init_c(out, 1, MPI_INT, right(), 3, MPI_COMM_WORLD, &request[1]));
  MPI(MPI_Startall(2, request));
  MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  MPI(MPI_Request_free(&request[0]));
  MPI(MPI_Request_free(&request[1]));
  MPI(MPI_Bcast_c(in, 2, MPI_INT, 0, MPI_COMM_WORLD));
  MPI(MPI_Allgather_c(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
  CHECK(in[size - 1] == 100 * (size - 1));
  MPI(MPI_Allgatherv_c(out, 1, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
  MPI(MPI_Alltoallv_c(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
  CHECK(in[size - 1] == 100 * (size - 1) + rank);
  for (int i = 0; i < kMax; ++i) displs[i] = i * (MPI_Aint)sizeof(int);
  MPI(MPI_Alltoallw_c(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD));
  MPI(MPI_Allreduce_c(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  MPI(MPI_Ireduce_c(out, in, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request[0]));
  MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  MPI(MPI_Reduce_scatter_c(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  MPI_Datatype type;
  const MPI_Count lengths[2] = {2, 3};
  const MPI_Count places[2] = {0, 4};
  MPI(MPI_Type_contiguous_c(3, MPI_INT, &type));
  MPI(MPI_Type_size_c(type, &count));
  CHECK(count == 12);
  MPI(MPI_Type_free(&type));
  MPI(MPI_Type_vector_c(2, 1, 3, MPI_INT, &type));
  MPI(MPI_Type_free(&type));
  MPI(MPI_Type_indexed_c(2, lengths, places, MPI_INT, &type));
  MPI_Count low = 0;
  MPI_Count extent = 0;
  MPI(MPI_Type_get_extent_c(type, &low, &extent));
  CHECK(extent == 28);
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large = 0;
  MPI_Count inner = 0;
  int combiner = 0;
  MPI(MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &inner, &combiner));
  CHECK(combiner == MPI_COMBINER_INDEXED && inner == 1);
  int contents_integers[8];
  MPI_Aint contents_addresses[8];
  MPI_Count contents_large[8];
  MPI_Datatype contents_types[2];
  MPI(MPI_Type_get_contents_c(type, integers, addresses, large, inner, contents_integers, contents_addresses,
                              contents_large, contents_types));
  MPI(MPI_Type_free(&type));
  MPI_Win win;
  MPI(MPI_Win_create_c(in, sizeof in, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI(MPI_Win_fence(0, win));
  MPI(MPI_Put_c(out, 1, MPI_INT, right(), 20, 1, MPI_INT, win));
  MPI(MPI_Win_fence(0, win));
  CHECK(in[20] == 100 * left());
  MPI(MPI_Win_free(&win));
  char room[64];
  MPI_Count position = 0;
  MPI(MPI_Pack_size_c(2, MPI_INT, MPI_COMM_WORLD, &count));
  MPI(MPI_Pack_c(out, 2, MPI_INT, room, sizeof room, &position, MPI_COMM_WORLD));
  CHECK(position == 8);
#else
  MPI(MPI_Barrier(MPI_COMM_WORLD));
#endif
  return finish();
}
