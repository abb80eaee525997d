// What bindings.F90 does, call by call: bindings.py compares the traces.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int holds) {
  if (!holds) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(void) {
  int rank, size, left, right, count, place, done, flag, n, k, code;
  int places[3], lengths[2], offsets[2], dims[2], periods[2], coords[2], sides[2], members[2], version, subversion;
  MPI_Status status, statuses[3];
  MPI_Request request, requests[3], none[1];
  MPI_Message message;
  MPI_Comm comm, half, grid, line, graph, pair;
  MPI_Group group, some;
  MPI_Datatype vector, indexed, record, inner, types[2], given[1];
  MPI_Info info, other;
  MPI_Win window;
  MPI_File file;
  MPI_Errhandler handler;
  MPI_Aint extent, lower, addresses[2], value, base;
  MPI_Offset offset;
  int keyval, combiner, integers, displacements, datatypes, numbers[8];
  MPI_Datatype named;
  char name[MPI_MAX_PROCESSOR_NAME], text[41], key[MPI_MAX_INFO_KEY];
  void *attribute;

#ifdef OPEN_MPI  // what each binding hands over
  int argc = 0;
  char **argv = NULL;
  MPI_Init(&argc, &argv);
#else
  MPI_Init(NULL, NULL);
#endif
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  int *out = malloc(400);
  int *in = malloc(404);
  int *all = malloc(808);
  int *scratch = malloc(1616);
  for (n = 0; n < 100; ++n) out[n] = rank;
  memset(places, 0, sizeof places);

  // Messages and statuses.
  MPI_Sendrecv(out, 10, MPI_INTEGER, right, 1, in, 10, MPI_INTEGER, left, 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INTEGER, &count);
  must(count == 10);
  MPI_Get_elements(&status, MPI_INTEGER, &count);
  MPI_Sendrecv_replace(in, 10, MPI_INTEGER, left, 2, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (n = 0; n < 3; ++n) MPI_Irecv(in + 10 * n, 10, MPI_INTEGER, left, 3 + n, MPI_COMM_WORLD, &requests[n]);
  for (n = 0; n < 3; ++n) MPI_Send(out, 4 + n, MPI_INTEGER, right, 3 + n, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  for (n = 0; n < 3; ++n) MPI_Waitany(3, requests, &place, &status);
  MPI_Waitany(3, requests, &place, &status);
  must(place == MPI_UNDEFINED);
  MPI_Testany(3, requests, &place, &flag, MPI_STATUS_IGNORE);
  must(flag);
  MPI_Waitsome(3, requests, &count, places, statuses);
  for (n = 0; n < 2; ++n) MPI_Irecv(in + 10 * n, 10, MPI_INTEGER, rank, 6 + n, MPI_COMM_WORLD, &requests[n]);
  requests[2] = MPI_REQUEST_NULL;
  for (n = 0; n < 2; ++n) MPI_Send(out, 4, MPI_INTEGER, rank, 6 + n, MPI_COMM_WORLD);
  for (done = 0; done < 2; done += count) {
    MPI_Testsome(3, requests, &count, places, statuses);
  }
  MPI_Isend(out, 2, MPI_INTEGER, right, 8, MPI_COMM_WORLD, &request);
  MPI_Probe(left, 8, MPI_COMM_WORLD, &status);
  MPI_Mprobe(left, 8, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(in, 2, MPI_INTEGER, &message, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv_init(in, 5, MPI_INTEGER, left, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend_init(out, 5, MPI_INTEGER, right, 9, MPI_COMM_WORLD, &requests[1]);
  for (n = 0; n < 3; ++n) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
  }
  MPI_Start(&requests[0]);
  MPI_Start(&requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Irecv(in, 1, MPI_INTEGER, left, 10, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  must(flag);
  MPI_Irecv(in, 1, MPI_INTEGER, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Request_get_status(request, &flag, &status);
  MPI_Test(&request, &flag, &status);
  MPI_Irecv(in, 1, MPI_INTEGER, rank, 12, MPI_COMM_WORLD, &request);
  MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  must(!flag);
  MPI_Send(out, 1, MPI_INTEGER, rank, 12, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);

  // Of no request.
  none[0] = MPI_REQUEST_NULL;
  MPI_Waitall(0, none, MPI_STATUSES_IGNORE);
  MPI_Waitall(0, none, statuses);
  MPI_Waitany(0, none, &place, &status);
  must(place == MPI_UNDEFINED);
  MPI_Waitsome(0, none, &count, places, statuses);
  must(count == MPI_UNDEFINED);
  MPI_Testall(0, none, &flag, MPI_STATUSES_IGNORE);
  must(flag);
  MPI_Testany(0, none, &place, &flag, &status);
  must(flag);
  MPI_Testsome(0, none, &count, places, statuses);
  must(count == MPI_UNDEFINED);
  MPI_Wait(&none[0], &status);

  // Datatypes.
  MPI_Type_vector(3, 2, 4, MPI_INTEGER, &vector);
  MPI_Type_commit(&vector);
  MPI_Type_size(vector, &n);
  MPI_Type_get_extent(vector, &lower, &extent);
  MPI_Sendrecv(out, 1, vector, right, 11, in, 6, MPI_INTEGER, left, 11, MPI_COMM_WORLD, &status);
  lengths[0] = 2, lengths[1] = 3;
  offsets[0] = 0, offsets[1] = 5;
  MPI_Type_indexed(2, lengths, offsets, MPI_REAL, &indexed);
  MPI_Type_get_envelope(indexed, &integers, &displacements, &datatypes, &combiner);
  MPI_Type_get_contents(indexed, integers, displacements, datatypes, numbers, addresses, given);
  must(numbers[0] == 2);
  MPI_Get_address(out, &addresses[0]);
  MPI_Get_address(in, &addresses[1]);
  types[0] = MPI_INTEGER, types[1] = MPI_INTEGER;
  MPI_Type_create_struct(2, lengths, addresses, types, &record);
  MPI_Type_commit(&record);
  MPI_Bcast(MPI_BOTTOM, 1, record, 0, MPI_COMM_WORLD);
  MPI_Type_create_hvector(2, 1, 16, MPI_INTEGER, &inner);
  MPI_Type_set_name(inner, "an inner type");
  MPI_Type_get_name(inner, text, &n);
  must(n == 13);
  dims[0] = 4, dims[1] = 4, coords[0] = 1, coords[1] = 2, members[0] = 2, members[1] = 2;
  MPI_Type_free(&inner);
  MPI_Type_create_subarray(2, dims, members, coords, MPI_ORDER_FORTRAN, MPI_INTEGER, &inner);
  MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &named);
  MPI_Type_free(&inner);
  MPI_Type_free(&record);
  MPI_Type_free(&indexed);
  MPI_Type_free(&vector);
  n = 0;
  MPI_Pack_size(2, MPI_INTEGER, MPI_COMM_WORLD, &k);
  MPI_Pack(out, 2, MPI_INTEGER, scratch, 100, &n, MPI_COMM_WORLD);
  n = 0;
  MPI_Unpack(scratch, 100, &n, in, 2, MPI_INTEGER, MPI_COMM_WORLD);
  base = MPI_Aint_add(addresses[0], 8);
  value = MPI_Aint_diff(base, addresses[0]);
  must(value == 8);

  // Communicators and groups.
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "a copy of it");
  MPI_Comm_get_name(comm, name, &n);
  must(n == 12);
  MPI_Comm_compare(MPI_COMM_WORLD, comm, &n);
  must(n == MPI_CONGRUENT);
  MPI_Comm_test_inter(comm, &flag);
  MPI_Comm_split(comm, rank % 2, -rank, &half);
  MPI_Comm_split(comm, MPI_UNDEFINED, 0, &line);
  must(line == MPI_COMM_NULL);
  MPI_Comm_group(comm, &group);
  members[0] = 0;
  MPI_Group_incl(group, 1, members, &some);
  MPI_Group_translate_ranks(some, 1, members, group, places);
  MPI_Group_size(some, &n);
  MPI_Group_rank(some, &n);
  MPI_Comm_create(comm, some, &pair);
  MPI_Group_free(&some);
  MPI_Group_free(&group);
  if (pair != MPI_COMM_NULL) MPI_Comm_free(&pair);

  // Topologies; logicals.
  dims[0] = 0, dims[1] = 1;
  MPI_Dims_create(size, 2, dims);
  periods[0] = 1, periods[1] = 0;
  MPI_Cart_create(comm, 2, dims, periods, 0, &grid);
  MPI_Cart_get(grid, 2, dims, periods, coords);
  must(periods[0] && !periods[1]);
  MPI_Cart_coords(grid, rank, 2, coords);
  MPI_Cart_rank(grid, coords, &n);
  MPI_Cart_shift(grid, 0, 1, &k, &n);
  sides[0] = 1, sides[1] = 0;
  MPI_Cart_sub(grid, sides, &line);
  MPI_Topo_test(grid, &n);
  must(n == MPI_CART);
  MPI_Neighbor_allgather(out, 1, MPI_INTEGER, scratch, 1, MPI_INTEGER, line);
  members[0] = left, members[1] = right;
  MPI_Dist_graph_create_adjacent(comm, 1, &members[0], MPI_UNWEIGHTED, 1, &members[1], MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  MPI_Dist_graph_neighbors_count(graph, &n, &k, &flag);
  must(!flag);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&line);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&half);

  // Collectives.
  for (n = 0; n < 8; ++n) in[n] = rank;
  MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_INTEGER, MPI_SUM, comm);
  must(in[0] == size * (size - 1) / 2);
  MPI_Gather(out, 2, MPI_INTEGER, all, 2, MPI_INTEGER, 0, comm);
  if (rank == 0) MPI_Scatter(all, 2, MPI_INTEGER, MPI_IN_PLACE, 2, MPI_INTEGER, 0, comm);
  if (rank != 0) MPI_Scatter(all, 0, MPI_INTEGER, in, 2, MPI_INTEGER, 0, comm);
  for (n = 0; n < 2; ++n) lengths[n] = 1, offsets[n] = n, types[n] = MPI_INTEGER;
  MPI_Alltoallv(out, lengths, offsets, MPI_INTEGER, in, lengths, offsets, MPI_INTEGER, comm);
  offsets[1] = 4;
  MPI_Alltoallw(out, lengths, offsets, types, in, lengths, offsets, types, comm);
  MPI_Reduce(out, in, 3, MPI_INTEGER, MPI_MAX, 1, comm);
  MPI_Scan(out, in, 1, MPI_INTEGER, MPI_SUM, comm);
  MPI_Exscan(out, in, 1, MPI_INTEGER, MPI_SUM, comm);
  MPI_Iallreduce(out, in, 1, MPI_INTEGER, MPI_SUM, comm, &requests[0]);
  MPI_Ibarrier(comm, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Reduce_local(out, in, 2, MPI_INTEGER, MPI_SUM);

  // Info, strings.
  MPI_Info_create(&info);
  MPI_Info_set(info, "access_style", "write_once");
  MPI_Info_set(info, "a key", "a value of words");
  MPI_Info_get(info, "access_style", 40, text, &flag);
  must(flag && strcmp(text, "write_once") == 0);
  MPI_Info_get(info, "nothing", 40, text, &flag);
  must(!flag);
  MPI_Info_get_nkeys(info, &n);
  MPI_Info_get_nthkey(info, 1, key);
  MPI_Info_get_valuelen(info, "a key", &n, &flag);
  MPI_Info_dup(info, &other);
  MPI_Info_delete(other, "a key");
  MPI_Info_free(&other);
  MPI_Get_processor_name(name, &n);
  MPI_Get_version(&version, &subversion);

  // Attributes.
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  MPI_Comm_get_attr(comm, keyval, &attribute, &flag);
  must(!flag);
  MPI_Comm_set_attr(comm, keyval, (void *)77);
  MPI_Comm_get_attr(comm, keyval, &attribute, &flag);
  must(flag && attribute == (void *)77);
  MPI_Comm_delete_attr(comm, keyval);
  MPI_Comm_free_keyval(&keyval);

  // Memory and files of others.
  MPI_Win_create(scratch, 400, 4, info, comm, &window);
  MPI_Win_fence(0, window);
  MPI_Put(out, 2, MPI_INTEGER, right, 3, 2, MPI_INTEGER, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  MPI_Get(in, 1, MPI_INTEGER, rank, 3, 1, MPI_INTEGER, window);
  MPI_Win_unlock(rank, window);
  must(in[0] == 0);
  MPI_Win_free(&window);
  MPI_File_open(comm, "bindings.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  offset = 40 * rank;
  MPI_File_write_at_all(file, offset, out, 10, MPI_INTEGER, &status);
  MPI_Get_count(&status, MPI_INTEGER, &count);
  must(count == 10);
  MPI_File_set_view(file, 0, MPI_INTEGER, MPI_INTEGER, "native", MPI_INFO_NULL);
  MPI_File_get_size(file, &offset);
  MPI_File_close(&file);
  MPI_Info_free(&info);

  // Errors.
  MPI_Comm_get_errhandler(comm, &handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  code = MPI_Send(out, 1, MPI_INTEGER, size + 5, 1, comm);
  must(code != MPI_SUCCESS);
  MPI_Error_class(code, &n);
  must(n == MPI_ERR_RANK);
  MPI_Comm_free(&comm);
  MPI_Initialized(&flag);
  MPI_Query_thread(&n);
  MPI_Is_thread_main(&flag);
  if (rank == 0) puts("ok");
  fflush(stdout);
  MPI_Finalize();
  MPI_Finalized(&flag);
  return 0;
}
