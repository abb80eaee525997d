! What bindings.c does, call by call, through mpif.h (-DMPIFH), `use mpi` (-DMODULE) or `use mpi_f08`, there without
! ierror but for one call: bindings.py compares the traces. ERR and ONLY_ERR are the last and the only argument.
! MPICH's mpif.h does not declare MPI_Aint_add (-DNO_AINT), nor do others PMPI_Aint_add.
#if defined(MPIFH) || defined(MODULE)
#define ERR , ierr)
#define ONLY_ERR (ierr)
#define HANDLE(kind) integer
#else
#define ERR )
#define ONLY_ERR ()
#define HANDLE(kind) type(kind)
#endif
program bindings
#if defined(MODULE)
  use mpi
#elif !defined(MPIFH)
  use mpi_f08
#endif
  implicit none
#if defined(MPIFH)
  include 'mpif.h'
#endif
#if defined(NO_AINT)
  integer(kind=MPI_ADDRESS_KIND), external :: MPI_Aint_add, MPI_Aint_diff
#endif
  integer :: ierr, rank, size, left, right, count, place, done, n, k, code
  integer :: places(3), lengths(2), offsets(2), dims(2), coords(2), members(2), version, subversion
  integer :: given_places(7) = 0 ! MPICH 4.0.2 counts from 0 in mpi_f08 and adds 1 to MPI_UNDEFINED in mpif.h
  integer :: keyval, combiner, integers, displacements, datatypes, numbers(8), keys
  logical :: flag, periods(2), sides(2)
#if defined(MPIFH) || defined(MODULE)
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 3)
#else
  type(MPI_Status) :: status, statuses(3)
#endif
  HANDLE(MPI_Request) :: request, requests(3), none(1)
  HANDLE(MPI_Message) :: message
  HANDLE(MPI_Comm) :: comm, half, grid, line, graph, pair
  HANDLE(MPI_Group) :: group, some
  HANDLE(MPI_Datatype) :: vector, indexed, record, inner, types(2), given(1), named
  HANDLE(MPI_Info) :: info, other
  HANDLE(MPI_Win) :: window
  HANDLE(MPI_File) :: file
  HANDLE(MPI_Errhandler) :: handler
  integer(kind=MPI_ADDRESS_KIND) :: extent, lower, addresses(2), value, base, bytes
  integer(kind=MPI_OFFSET_KIND) :: offset
  integer, allocatable, asynchronous :: out(:), in(:), all(:), scratch(:)
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=MPI_MAX_OBJECT_NAME) :: label
  character(len=40) :: text
  character(len=MPI_MAX_INFO_KEY) :: key

  call MPI_Init ONLY_ERR
  call MPI_Comm_rank(MPI_COMM_WORLD, rank ERR
  call MPI_Comm_size(MPI_COMM_WORLD, size ERR
  left = modulo(rank + size - 1, size)
  right = modulo(rank + 1, size)
  allocate (out(100))
  allocate (in(101))
  allocate (all(202))
  allocate (scratch(404))
  out = rank
  places = 0

  ! Messages and statuses.
  call MPI_Sendrecv(out, 10, MPI_INTEGER, right, 1, in, 10, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status ERR
  call MPI_Get_count(status, MPI_INTEGER, count ERR
  call must(count == 10)
  call MPI_Get_elements(status, MPI_INTEGER, count ERR
  call MPI_Sendrecv_replace(in, 10, MPI_INTEGER, left, 2, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR
  do n = 0, 2
    call MPI_Irecv(in(10 * n + 1), 10, MPI_INTEGER, left, 3 + n, MPI_COMM_WORLD, requests(n + 1) ERR
  end do
  do n = 0, 2
    call MPI_Send(out, 4 + n, MPI_INTEGER, right, 3 + n, MPI_COMM_WORLD ERR
  end do
  call MPI_Barrier(MPI_COMM_WORLD ERR
  do n = 1, 3
    call MPI_Waitany(3, requests, place, status ERR
    given_places(n) = place
  end do
  call MPI_Waitany(3, requests, place, status ERR
  given_places(4) = place
  call MPI_Testany(3, requests, place, flag, MPI_STATUS_IGNORE ERR
  call must(flag)
  given_places(5) = place
  call MPI_Waitsome(3, requests, count, places, statuses ERR
  call must(count == MPI_UNDEFINED)
  do n = 0, 1
    call MPI_Irecv(in(10 * n + 1), 10, MPI_INTEGER, rank, 6 + n, MPI_COMM_WORLD, requests(n + 1) ERR
  end do
  requests(3) = MPI_REQUEST_NULL
  do n = 0, 1
    call MPI_Send(out, 4, MPI_INTEGER, rank, 6 + n, MPI_COMM_WORLD ERR
  end do
  done = 0
  do while (done < 2)
    call MPI_Testsome(3, requests, count, places, statuses ERR
    done = done + count
    given_places(6) = given_places(6) + sum(places(1:count))
  end do
  call MPI_Isend(out, 2, MPI_INTEGER, right, 8, MPI_COMM_WORLD, request ERR
  call MPI_Probe(left, 8, MPI_COMM_WORLD, status ERR
  call MPI_Mprobe(left, 8, MPI_COMM_WORLD, message, status ERR
  call MPI_Mrecv(in, 2, MPI_INTEGER, message, status ERR
  call MPI_Wait(request, MPI_STATUS_IGNORE ERR
  call MPI_Recv_init(in, 5, MPI_INTEGER, left, 9, MPI_COMM_WORLD, requests(1) ERR
  call MPI_Ssend_init(out, 5, MPI_INTEGER, right, 9, MPI_COMM_WORLD, requests(2) ERR
  do n = 1, 3
    call MPI_Startall(2, requests ERR
    call MPI_Waitall(2, requests, statuses ERR
  end do
  call MPI_Start(requests(1) ERR
  call MPI_Start(requests(2) ERR
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE ERR
  call MPI_Request_free(requests(1) ERR
  call MPI_Request_free(requests(2) ERR
  call MPI_Irecv(in, 1, MPI_INTEGER, left, 10, MPI_COMM_WORLD, request ERR
  call MPI_Cancel(request ERR
  call MPI_Wait(request, status ERR
  call MPI_Test_cancelled(status, flag ERR
  call must(flag)
  call MPI_Irecv(in, 1, MPI_INTEGER, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, request ERR
  call MPI_Request_get_status(request, flag, status ERR
  call MPI_Test(request, flag, status ERR
  call MPI_Irecv(in, 1, MPI_INTEGER, rank, 12, MPI_COMM_WORLD, request ERR
  call MPI_Request_get_status(request, flag, MPI_STATUS_IGNORE ERR
  call must(.not. flag)
  call MPI_Send(out, 1, MPI_INTEGER, rank, 12, MPI_COMM_WORLD ERR
  call MPI_Wait(request, status ERR

  ! Of no request.
  none(1) = MPI_REQUEST_NULL
  call MPI_Waitall(0, none, MPI_STATUSES_IGNORE ERR
  call MPI_Waitall(0, none, statuses ERR
  call MPI_Waitany(0, none, place, status ERR
  given_places(7) = place
  call MPI_Waitsome(0, none, count, places, statuses ERR
  call must(count == MPI_UNDEFINED)
  call MPI_Testall(0, none, flag, MPI_STATUSES_IGNORE ERR
  call must(flag)
  call MPI_Testany(0, none, place, flag, status ERR
  call must(flag)
  call MPI_Testsome(0, none, count, places, statuses ERR
  call must(count == MPI_UNDEFINED)
  call MPI_Wait(none(1), status ERR

  ! Datatypes.
  call MPI_Type_vector(3, 2, 4, MPI_INTEGER, vector ERR
  call MPI_Type_commit(vector ERR
  call MPI_Type_size(vector, n ERR
  call MPI_Type_get_extent(vector, lower, extent ERR
  call MPI_Sendrecv(out, 1, vector, right, 11, in, 6, MPI_INTEGER, left, 11, MPI_COMM_WORLD, status ERR
  lengths = [2, 3]
  offsets = [0, 5]
  call MPI_Type_indexed(2, lengths, offsets, MPI_REAL, indexed ERR
  call MPI_Type_get_envelope(indexed, integers, displacements, datatypes, combiner ERR
  call MPI_Type_get_contents(indexed, integers, displacements, datatypes, numbers, addresses, given ERR
  call must(numbers(1) == 2)
  call MPI_Get_address(out, addresses(1) ERR
  call MPI_Get_address(in, addresses(2) ERR
  types = [MPI_INTEGER, MPI_INTEGER]
  call MPI_Type_create_struct(2, lengths, addresses, types, record ERR
  call MPI_Type_commit(record ERR
  call MPI_Bcast(MPI_BOTTOM, 1, record, 0, MPI_COMM_WORLD ERR
  bytes = 16
  call MPI_Type_create_hvector(2, 1, bytes, MPI_INTEGER, inner ERR
  call MPI_Type_set_name(inner, 'an inner type  ' ERR
  call MPI_Type_get_name(inner, label, n ERR
  call must(n == 13 .and. label == 'an inner type')
  dims = 4
  coords = [1, 2]
  members = 2
  call MPI_Type_free(inner ERR
  call MPI_Type_create_subarray(2, dims, members, coords, MPI_ORDER_FORTRAN, MPI_INTEGER, inner ERR
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, named ERR
  call MPI_Type_free(inner ERR
  call MPI_Type_free(record ERR
  call MPI_Type_free(indexed ERR
  call MPI_Type_free(vector ERR
  n = 0
  call MPI_Pack_size(2, MPI_INTEGER, MPI_COMM_WORLD, k ERR
  call MPI_Pack(out, 2, MPI_INTEGER, scratch, 100, n, MPI_COMM_WORLD ERR
  n = 0
  call MPI_Unpack(scratch, 100, n, in, 2, MPI_INTEGER, MPI_COMM_WORLD ERR
  bytes = 8
  base = MPI_Aint_add(addresses(1), bytes)
  value = MPI_Aint_diff(base, addresses(1))
  call must(value == 8)

  ! Communicators and groups.
  call MPI_Comm_dup(MPI_COMM_WORLD, comm ERR
  call MPI_Comm_set_name(comm, 'a copy of it ' ERR
  call MPI_Comm_get_name(comm, label, n ERR
  call must(n == 12 .and. label == 'a copy of it')
  call MPI_Comm_compare(MPI_COMM_WORLD, comm, n ERR
  call must(n == MPI_CONGRUENT)
  call MPI_Comm_test_inter(comm, flag ERR
  call MPI_Comm_split(comm, modulo(rank, 2), -rank, half ERR
  call MPI_Comm_split(comm, MPI_UNDEFINED, 0, line ERR
  call must(line == MPI_COMM_NULL)
  call MPI_Comm_group(comm, group ERR
  members(1) = 0
  call MPI_Group_incl(group, 1, members, some ERR
  call MPI_Group_translate_ranks(some, 1, members, group, places ERR
  call MPI_Group_size(some, n ERR
  call MPI_Group_rank(some, n ERR
  call MPI_Comm_create(comm, some, pair ERR
  call MPI_Group_free(some ERR
  call MPI_Group_free(group ERR
  if (pair /= MPI_COMM_NULL) call MPI_Comm_free(pair ERR

  ! Topologies; logicals.
  dims = [0, 1]
  call MPI_Dims_create(size, 2, dims ERR
  periods = [.true., .false.]
  call MPI_Cart_create(comm, 2, dims, periods, .false., grid ERR
  call MPI_Cart_get(grid, 2, dims, periods, coords ERR
  call must(periods(1) .and. .not. periods(2))
  call MPI_Cart_coords(grid, rank, 2, coords ERR
  call MPI_Cart_rank(grid, coords, n ERR
  call MPI_Cart_shift(grid, 0, 1, k, n ERR
  sides = [.true., .false.]
  call MPI_Cart_sub(grid, sides, line ERR
  call MPI_Topo_test(grid, n ERR
  call must(n == MPI_CART)
  call MPI_Neighbor_allgather(out, 1, MPI_INTEGER, scratch, 1, MPI_INTEGER, line ERR
  members = [left, right]
  call MPI_Dist_graph_create_adjacent(comm, 1, members(1:1), MPI_UNWEIGHTED, 1, members(2:2), MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., graph ERR
  call MPI_Dist_graph_neighbors_count(graph, n, k, flag ERR
  call must(.not. flag)
  call MPI_Comm_free(graph ERR
  call MPI_Comm_free(line ERR
  call MPI_Comm_free(grid ERR
  call MPI_Comm_free(half ERR

  ! Collectives.
  in(1:8) = rank
  call MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_INTEGER, MPI_SUM, comm ERR
  call must(in(1) == size * (size - 1) / 2)
  call MPI_Gather(out, 2, MPI_INTEGER, all, 2, MPI_INTEGER, 0, comm ERR
  if (rank == 0) call MPI_Scatter(all, 2, MPI_INTEGER, MPI_IN_PLACE, 2, MPI_INTEGER, 0, comm ERR
  if (rank /= 0) call MPI_Scatter(all, 0, MPI_INTEGER, in, 2, MPI_INTEGER, 0, comm ERR
  lengths = 1
  offsets = [0, 1]
  types = [MPI_INTEGER, MPI_INTEGER]
  call MPI_Alltoallv(out, lengths, offsets, MPI_INTEGER, in, lengths, offsets, MPI_INTEGER, comm ERR
  offsets(2) = 4
  call MPI_Alltoallw(out, lengths, offsets, types, in, lengths, offsets, types, comm ERR
  call MPI_Reduce(out, in, 3, MPI_INTEGER, MPI_MAX, 1, comm ERR
  call MPI_Scan(out, in, 1, MPI_INTEGER, MPI_SUM, comm ERR
  call MPI_Exscan(out, in, 1, MPI_INTEGER, MPI_SUM, comm ERR
  call MPI_Iallreduce(out, in, 1, MPI_INTEGER, MPI_SUM, comm, requests(1) ERR
  call MPI_Ibarrier(comm, requests(2) ERR
  call MPI_Waitall(2, requests, statuses ERR
  call MPI_Reduce_local(out, in, 2, MPI_INTEGER, MPI_SUM ERR

  ! Info, strings.
  call MPI_Info_create(info ERR
  call MPI_Info_set(info, 'access_style ', 'write_once ' ERR
  call MPI_Info_set(info, ' a key', 'a value of words' ERR
  call MPI_Info_get(info, 'access_style', 40, text, flag ERR
  call must(flag .and. text == 'write_once')
  call MPI_Info_get(info, 'nothing', 40, text, flag ERR
  call must(.not. flag)
  call MPI_Info_get_nkeys(info, keys ERR
  call MPI_Info_get_nthkey(info, 1, key ERR
  call MPI_Info_get_valuelen(info, 'a key', n, flag ERR
  call MPI_Info_dup(info, other ERR
  call MPI_Info_delete(other, 'a key' ERR
  call MPI_Info_free(other ERR
  call MPI_Get_processor_name(name, n ERR
  call MPI_Get_version(version, subversion ERR

  ! Attributes.
  value = 0
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, value ERR
  call MPI_Comm_get_attr(comm, keyval, value, flag ERR
  call must(.not. flag)
  value = 77
  call MPI_Comm_set_attr(comm, keyval, value ERR
  value = 0
  call MPI_Comm_get_attr(comm, keyval, value, flag ERR
  call must(flag .and. value == 77)
  call MPI_Comm_delete_attr(comm, keyval ERR
  call MPI_Comm_free_keyval(keyval ERR

  ! Memory and files of others.
  bytes = 400
  call MPI_Win_create(scratch, bytes, 4, info, comm, window ERR
  call MPI_Win_fence(0, window ERR
  value = 3
  call MPI_Put(out, 2, MPI_INTEGER, right, value, 2, MPI_INTEGER, window ERR
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, window ERR
  call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window ERR
  call MPI_Get(in, 1, MPI_INTEGER, rank, value, 1, MPI_INTEGER, window ERR
  call MPI_Win_unlock(rank, window ERR
  call must(in(1) == 0)
  call MPI_Win_free(window ERR
  call MPI_File_open(comm, 'bindings.dat ', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file ERR
  offset = 40 * rank
  call MPI_File_write_at_all(file, offset, out, 10, MPI_INTEGER, status ERR
  call MPI_Get_count(status, MPI_INTEGER, count ERR
  call must(count == 10)
  offset = 0
  call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL ERR
  call MPI_File_get_size(file, offset ERR
  call MPI_File_close(file ERR
  call MPI_Info_free(info ERR

  ! Errors.
  call MPI_Comm_get_errhandler(comm, handler ERR
  call MPI_Errhandler_free(handler ERR
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN ERR
  call MPI_Send(out, 1, MPI_INTEGER, size + 5, 1, comm, code)
  call must(code /= MPI_SUCCESS)
  call MPI_Error_class(code, n ERR
  call must(n == MPI_ERR_RANK)
  call MPI_Comm_free(comm ERR
  call MPI_Initialized(flag ERR
  call MPI_Query_thread(n ERR
  call MPI_Is_thread_main(flag ERR
  if (rank == 0) print '(a, 7(1x, i0))', 'ok', given_places
  flush (6)
  call MPI_Finalize ONLY_ERR
  call MPI_Finalized(flag ERR
contains
  subroutine must(holds)
    logical, intent(in) :: holds
    if (.not. holds) call MPI_Abort(MPI_COMM_WORLD, 1 ERR
  end subroutine
end program
