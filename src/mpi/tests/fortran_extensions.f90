! A persistent collective under the name that Open MPI has for it.
program fortran_extensions
  implicit none
  include 'mpif.h'
  external :: mpix_bcast_init
  integer :: request, ierr, rank, i, values(4)
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  values = rank + 1
  call mpix_bcast_init(values, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
  do i = 1, 2
    call mpi_start(request, ierr) ! 2 times
    call mpi_wait(request, MPI_STATUS_IGNORE, ierr) ! 2 times
  end do
  call mpi_request_free(request, ierr)
  print '(4(1x, i0))', values
  flush (6)
  call mpi_finalize(ierr)
end program
