! Calls through `use mpi`: attributes of all three kinds, windows, files, info, requests of the program's own, topologies,
! nonblocking collectives, calls by several threads. What the comments behind calls mean: fortran_mpifh.f90.
module callbacks
  use mpi
  implicit none
  integer :: request = MPI_REQUEST_NULL
contains
  subroutine query(extra, status, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierr
    call mpi_status_set_elements(status, MPI_INTEGER, 3, ierr)
    call mpi_status_set_cancelled(status, .false., ierr)
    status(MPI_SOURCE) = MPI_UNDEFINED
    status(MPI_TAG) = MPI_UNDEFINED
  end subroutine
  subroutine release(extra, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierr
    ierr = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra, complete, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierr
    ierr = MPI_SUCCESS
  end subroutine
end module

program fortran_module
  use mpi
  use callbacks
  use iso_c_binding
  implicit none
  integer :: ierr, rank, size, provided, keyval, type, window, file, info, n, i, graph, parts, old
  integer :: status(MPI_STATUS_SIZE), requests(2), neighbours(1), weights(1), comms(2)
  integer(kind=MPI_ADDRESS_KIND) :: value, bytes
  integer(kind=MPI_OFFSET_KIND) :: offset
  logical :: flag, found
  integer, pointer :: shared(:)
  type(c_ptr) :: base
  integer :: out(8), in(8)
  character(len=40) :: text

  call mpi_init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, size, ierr)
  out = rank
  in = -1

  ! Attributes: the binding has its own way to them.
  call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
  call must(flag .and. value >= 32767)
  call mpi_attr_get(MPI_COMM_WORLD, MPI_TAG_UB, n, flag, ierr)
  call must(flag .and. n == value)
  call mpi_keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, keyval, 0, ierr)
  call mpi_attr_get(MPI_COMM_SELF, keyval, n, flag, ierr)
  call must(.not. flag)
  call mpi_attr_put(MPI_COMM_SELF, keyval, -17 - rank, ierr)
  call mpi_attr_get(MPI_COMM_SELF, keyval, n, flag, ierr)
  call must(flag .and. n == -17 - rank)
  call mpi_attr_delete(MPI_COMM_SELF, keyval, ierr)
  call mpi_keyval_free(keyval, ierr)
  call mpi_type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierr)
  call mpi_type_contiguous(2, MPI_INTEGER, type, ierr)
  call mpi_type_set_attr(type, keyval, 2_MPI_ADDRESS_KIND**40, ierr)
  call mpi_type_get_attr(type, keyval, value, flag, ierr)
  call must(flag .and. value == 2_MPI_ADDRESS_KIND**40)
  call mpi_type_delete_attr(type, keyval, ierr)
  call mpi_type_free_keyval(keyval, ierr)
  call mpi_type_set_name(type, 'two integers', ierr)
  call mpi_type_commit(type, ierr)

  ! Windows.
  bytes = 32
  call mpi_alloc_mem(bytes, MPI_INFO_NULL, base, ierr)
  call c_f_pointer(base, shared, [8])
  shared = rank
  call mpi_win_create(shared, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierr)
  call mpi_win_get_attr(window, MPI_WIN_SIZE, value, flag, ierr)
  call must(flag .and. value == 32)
  call mpi_win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierr)
  call mpi_win_set_attr(window, keyval, 9_MPI_ADDRESS_KIND, ierr)
  call mpi_win_free_keyval(keyval, ierr)
  call mpi_win_fence(0, window, ierr)
  call mpi_get(in, 1, type, modulo(rank + 1, size), 0_MPI_ADDRESS_KIND, 1, type, window, ierr)
  call mpi_win_fence(0, window, ierr)
  call must(in(2) == modulo(rank + 1, size))
  call mpi_win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window, ierr)
  call mpi_accumulate(out, 1, MPI_INTEGER, 0, 4_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, window, ierr)
  call mpi_win_unlock(0, window, ierr)
  call mpi_win_free(window, ierr)
  call mpi_free_mem(shared, ierr)
  call mpi_type_free(type, ierr)

  ! Files: the binding converts their handles.
  call mpi_info_create(info, ierr)
  call mpi_info_set(info, 'access_style', 'write_once', ierr)
  call mpi_info_get(info, 'access_style', len(text), text, flag, ierr)
  call must(flag .and. text == 'write_once')
  call mpi_file_open(MPI_COMM_WORLD, 'out.dat', MPI_MODE_CREATE + MPI_MODE_RDWR, info, file, ierr)
  call must(ierr == MPI_SUCCESS)
  call mpi_info_free(info, ierr)
  offset = 32 * rank
  call mpi_file_write_at_all(file, offset, out, 8, MPI_INTEGER, status, ierr)
  call mpi_get_count(status, MPI_INTEGER, n, ierr)
  call must(n == 8)
  call mpi_file_sync(file, ierr)
  call mpi_barrier(MPI_COMM_WORLD, ierr)
  offset = 32 * modulo(rank + 1, size)
  call mpi_file_iread_at(file, offset, in, 8, MPI_INTEGER, requests(1), ierr)
  call mpi_wait(requests(1), status, ierr)
  call must(in(8) == modulo(rank + 1, size))
  call mpi_file_get_size(file, offset, ierr)
  call must(offset == 32 * size)
  call mpi_file_close(file, ierr)

  ! Topologies, nonblocking collectives, types made for a precision.
  neighbours = modulo(rank + 1, size)
  weights = 3
  call mpi_dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], neighbours, weights, MPI_INFO_NULL, .false., graph, ierr)
  call mpi_dist_graph_neighbors_count(graph, n, i, found, ierr)
  call must(n == 1 .and. i == 1 .and. found)
  call mpi_neighbor_allgather(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, graph, ierr)
  call must(in(1) == modulo(rank - 1, size))
  call mpi_iallreduce(out, in, 1, MPI_INTEGER, MPI_SUM, graph, requests(1), ierr)
  call mpi_ibarrier(graph, requests(2), ierr)
  call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  call mpi_comm_free(graph, ierr)
  call mpi_type_create_f90_real(15, MPI_UNDEFINED, type, ierr)
  call mpi_type_size(type, n, ierr)
  call must(n == 8)

  call mpi_grequest_start(query, release, cancel, 5_MPI_ADDRESS_KIND, request, ierr)
  call mpi_grequest_complete(request, ierr)
  call mpi_wait(request, status, ierr)
  call mpi_get_elements(status, MPI_INTEGER, n, ierr)
  call must(n == 3)

  call mpi_comm_dup(MPI_COMM_WORLD, comms(1), ierr)
  call mpi_comm_dup(MPI_COMM_WORLD, comms(2), ierr)
  if (provided == MPI_THREAD_MULTIPLE) then
    !$omp parallel do num_threads(2) private(old, parts, ierr) schedule(static, 1)
    do i = 1, 2
      do parts = 1, 20
        call mpi_allreduce(parts, old, 1, MPI_INTEGER, MPI_MAX, comms(i), ierr) ! 40 times
        call must(old == parts)
      end do
    end do
    !$omp end parallel do
  end if
  call mpi_comm_free(comms(1), ierr)
  call mpi_comm_free(comms(2), ierr)
  if (rank == 0) print '(a)', 'ok'
  flush(6)
  call mpi_finalize(ierr)
contains
  subroutine must(holds)
    logical, intent(in) :: holds
    integer :: answer
    if (.not. holds) call mpi_abort(MPI_COMM_WORLD, 1, answer) ! never
  end subroutine
end program
