! Turns tracing off and on by the module for Fortran: six calls of each rank are in the trace.
program fortran_tracing
  use mpi
  use cairn_tracing
  implicit none
  integer :: rank, i, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call cairn_tracing_off()
  do i = 1, 100
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  call cairn_tracing_on()
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(ierror)
end program fortran_tracing
