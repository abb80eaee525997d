! Calls through `use mpi_f08`. MPICH's binding reaches C functions that can be recorded for calls with a choice buffer alone.
program fortran_f08
  use mpi_f08
  implicit none
  integer :: rank, size, n, out(10), in(10)
  type(MPI_Comm) :: comm
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  out = rank
  in = -1
  call MPI_Sendrecv(out, 10, MPI_INTEGER, modulo(rank + 1, size), 1, in, 10, MPI_INTEGER, modulo(rank - 1, size), 1, comm, status)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call must(n == 10 .and. in(10) == modulo(rank - 1, size))
  call MPI_Irecv(in, 10, MPI_INTEGER, modulo(rank - 1, size), 2, comm, requests(1))
  call MPI_Isend(out, 5, MPI_INTEGER, modulo(rank + 1, size), 2, comm, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Allreduce(MPI_IN_PLACE, out, 10, MPI_INTEGER, MPI_SUM, comm)
  call must(out(10) == size * (size - 1) / 2)
  call MPI_Barrier(comm)
  if (rank == 0) print '(a)', 'ok'
  flush(6)
  call MPI_Finalize()
contains
  subroutine must(holds)
    logical, intent(in) :: holds
    if (.not. holds) call MPI_Abort(MPI_COMM_WORLD, 1) ! never
  end subroutine
end program
