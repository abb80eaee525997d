! Calls through mpif.h: messages, collectives, communicators, types, strings, and callbacks that call MPI themselves.
! fortran_sites.py reads this file: each line that calls MPI runs once on each rank unless a comment says `! n times`,
! `! sometimes` (on some ranks, or as often as it likes) or `! never`.
program fortran_mpifh
  implicit none
  include 'mpif.h'
  external :: sum_and_look, copy_and_look, delete_and_look, note_error
  integer :: ierr, rank, size, left, right, i, count, comm, grid, request, requests(4), place, done, places(4)
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4), group, members(2), row, pair, op, keyval, handler, n
  integer :: lengths(2), types(2), ones(16), offsets(16), codes(16)
  integer(kind=MPI_ADDRESS_KIND) :: displacements(2), value
  integer, allocatable :: out(:), in(:), all(:)
  integer, volatile :: bottom(4)
  double precision :: began, reals(4)
  logical :: flag, periods(2), sides(2)
  integer :: errors
  common /noted/ errors
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=64) :: packed

  call mpi_initialized(flag, ierr)
  call mpi_init(ierr)
  began = mpi_wtime()
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, size, ierr)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  allocate(out(100), in(100), all(100 * size))
  out = rank
  errors = 0

  ! Messages: more arguments than registers, statuses wanted or not, an array of requests.
  call mpi_sendrecv(out, 10, MPI_INTEGER, right, 1, in, 10, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status, ierr)
  call must(in(10) == left .and. status(MPI_SOURCE) == left)
  call mpi_get_count(status, MPI_INTEGER, count, ierr)
  call must(count == 10)
  call mpi_sendrecv_replace(in, 10, MPI_INTEGER, left, 2, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call must(in(1) == rank)
  do i = 1, 5
    call mpi_irecv(in, 100, MPI_INTEGER, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, requests(1), ierr) ! 5 times
    call mpi_isend(out, 10 * i, MPI_INTEGER, right, i, MPI_COMM_WORLD, requests(2), ierr) ! 5 times
    call mpi_waitall(2, requests, statuses, ierr) ! 5 times
    call must(statuses(MPI_TAG, 1) == i)
  end do
  call mpi_irecv(in, 5, MPI_INTEGER, left, 6, MPI_COMM_WORLD, requests(1), ierr)
  call mpi_irecv(in(50), 5, MPI_INTEGER, MPI_PROC_NULL, 6, MPI_COMM_WORLD, requests(2), ierr)
  call mpi_send(out, 5, MPI_INTEGER, right, 6, MPI_COMM_WORLD, ierr)
  do done = 1, 2
    call mpi_waitany(2, requests, place, status, ierr) ! 2 times
    call must(place >= 1 .and. place <= 2)
  end do
  call mpi_isend(out, 1, MPI_INTEGER, right, 7, MPI_COMM_WORLD, request, ierr)
  call mpi_probe(left, 7, MPI_COMM_WORLD, status, ierr)
  call mpi_recv(in, 1, MPI_INTEGER, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  flag = .false.
  do while (.not. flag)
    call mpi_test(request, flag, status, ierr) ! sometimes
  end do
  call mpi_recv_init(in, 3, MPI_INTEGER, left, 8, MPI_COMM_WORLD, requests(1), ierr)
  call mpi_send_init(out, 3, MPI_INTEGER, right, 8, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 3
    call mpi_startall(2, requests, ierr) ! 3 times
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierr) ! 3 times
  end do
  call mpi_start(requests(1), ierr)
  call mpi_start(requests(2), ierr)
  done = 0
  do while (done < 2)
    call mpi_waitsome(2, requests, n, places, statuses, ierr) ! sometimes
    done = done + n
  end do
  call mpi_request_free(requests(1), ierr)
  call mpi_request_free(requests(2), ierr)
  n = 0
  call mpi_pack(out, 2, MPI_INTEGER, packed, len(packed), n, MPI_COMM_WORLD, ierr)
  i = 0
  call mpi_unpack(packed, n, i, in, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call must(i == n .and. in(2) == rank)

  ! Collectives, special addresses.
  call mpi_barrier(MPI_COMM_WORLD, ierr)
  in = rank
  call mpi_bcast(in, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call must(in(4) == 0)
  reals = rank
  call mpi_allreduce(MPI_IN_PLACE, reals, 4, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  call must(reals(1) == size - 1)
  call mpi_gather(out, 2, MPI_INTEGER, all, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call mpi_allgather(out, 2, MPI_INTEGER, all, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call must(all(2 * size) == size - 1)
  ones = 1
  offsets = [(i, i = 0, 15)]
  call mpi_alltoallv(all, ones, offsets, MPI_INTEGER, in, ones, offsets, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call mpi_reduce(out, in, 3, MPI_INTEGER, MPI_SUM, size - 1, MPI_COMM_WORLD, ierr)
  call mpi_scan(out, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call must(in(1) == rank * (rank + 1) / 2)

  ! Communicators and groups; logicals, names with blanks at their end.
  call mpi_comm_dup(MPI_COMM_WORLD, comm, ierr)
  call mpi_comm_set_name(comm, 'a copy of it ', ierr)
  call mpi_comm_get_name(comm, name, n, ierr)
  call must(n == 12 .and. name(1:n) == 'a copy of it')
  call mpi_get_processor_name(name, n, ierr)
  periods = [.true., .false.]
  call mpi_cart_create(comm, 2, [size, 1], periods, .false., grid, ierr)
  call mpi_cart_get(grid, 2, members, sides, places, ierr)
  call must(sides(1) .and. .not. sides(2))
  call mpi_cart_shift(grid, 0, 1, i, n, ierr)
  call mpi_comm_free(grid, ierr)
  call mpi_comm_group(comm, group, ierr)
  call mpi_group_free(group, ierr)
  call mpi_comm_split(comm, modulo(rank, 2), -rank, grid, ierr)
  call mpi_comm_free(grid, ierr)

  ! Types, addresses, MPI_BOTTOM.
  call mpi_type_vector(3, 1, 4, MPI_INTEGER, row, ierr)
  call mpi_type_commit(row, ierr)
  call mpi_get_address(bottom(1), displacements(1), ierr)
  call mpi_get_address(bottom(3), displacements(2), ierr)
  lengths = 1
  types = MPI_INTEGER
  call mpi_type_create_struct(2, lengths, displacements, types, pair, ierr)
  call mpi_type_commit(pair, ierr)
  bottom = rank
  call mpi_bcast(MPI_BOTTOM, 1, pair, 0, comm, ierr)
  call must(bottom(3) == 0 .and. bottom(2) == rank)
  call mpi_type_size(pair, n, ierr)
  call must(n == 8)
  call mpi_type_free(pair, ierr)

  ! Callbacks that call MPI from inside MPI.
  call mpi_op_create(sum_and_look, .true., op, ierr)
  call mpi_allreduce(out, in, 1, MPI_INTEGER, op, comm, ierr)
  call must(in(1) == size * (size - 1) / 2)
  call mpi_op_free(op, ierr)
  call mpi_comm_create_keyval(copy_and_look, delete_and_look, keyval, 77_MPI_ADDRESS_KIND, ierr)
  call mpi_comm_set_attr(comm, keyval, -5_MPI_ADDRESS_KIND, ierr)
  call mpi_comm_dup(comm, grid, ierr)
  call mpi_comm_get_attr(grid, keyval, value, flag, ierr)
  call must(flag .and. value == -4)
  call mpi_comm_delete_attr(grid, keyval, ierr)
  call mpi_comm_free(grid, ierr)
  call mpi_comm_free_keyval(keyval, ierr)
  call mpi_comm_create_errhandler(note_error, handler, ierr)
  call mpi_comm_set_errhandler(comm, handler, ierr)
  call mpi_send(out, 1, MPI_INTEGER, size + 5, 0, comm, ierr)
  call must(ierr /= MPI_SUCCESS .and. errors == 1)
  call mpi_errhandler_free(handler, ierr)
  call mpi_comm_free(comm, ierr)
  call mpi_type_free(row, ierr)
  call must(mpi_wtime() >= began)
  codes = 0
  if (rank == 0) print '(a)', 'ok'
  flush(6)
  call mpi_finalize(ierr)
  call mpi_finalized(flag, ierr)
contains
  subroutine must(holds)
    logical, intent(in) :: holds
    if (.not. holds) call mpi_abort(MPI_COMM_WORLD, 1, ierr) ! never
  end subroutine
end program

subroutine sum_and_look(in, inout, n, type)
  implicit none
  include 'mpif.h'
  integer :: n, type, in(n), inout(n), bytes, ierr
  call mpi_type_size(type, bytes, ierr) ! sometimes
  inout = inout + in
end subroutine

subroutine copy_and_look(comm, keyval, extra, old, new, flag, ierr)
  implicit none
  include 'mpif.h'
  integer :: comm, keyval, ierr, rank
  integer(kind=MPI_ADDRESS_KIND) :: extra, old, new
  logical :: flag
  call mpi_comm_rank(comm, rank, ierr)
  new = old + 1
  flag = extra == 77
  ierr = MPI_SUCCESS
end subroutine

! For the copy, when it is deleted there, and for the original, when its communicator is freed.
subroutine delete_and_look(comm, keyval, old, extra, ierr)
  implicit none
  include 'mpif.h'
  integer :: comm, keyval, ierr, size
  integer(kind=MPI_ADDRESS_KIND) :: extra, old
  call mpi_comm_size(MPI_COMM_WORLD, size, ierr) ! 2 times
  ierr = MPI_SUCCESS
end subroutine

subroutine note_error(comm, code)
  implicit none
  include 'mpif.h'
  integer :: comm, code, class, length, ierr, errors
  common /noted/ errors
  character(len=MPI_MAX_ERROR_STRING) :: text
  call mpi_error_class(code, class, ierr)
  call mpi_error_string(code, text, length, ierr)
  if (class == MPI_ERR_RANK) errors = errors + 1
end subroutine
