! A Fortran program that names codecs itself, linked with the layer instead of having it preloaded.
program fortran_codec
  use mpi
  use pnetcdf
  implicit none
  integer, external :: nfmpi_comp_codec
  integer, parameter :: each = 1000
  integer :: ierr, rank, ranks, file, x, variables(2), i
  integer(kind=MPI_OFFSET_KIND) :: start(1), count(1), length
  real :: values(each), got(each)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call good(nfmpi_create(MPI_COMM_WORLD, 'fortran_codec.nc', NF_CLOBBER, MPI_INFO_NULL, file))
  length = each * ranks
  call good(nfmpi_def_dim(file, 'x', length, x))
  call good(nfmpi_def_var(file, 'small', NF_REAL, 1, [x], variables(1)))
  call good(nfmpi_def_var(file, 'fast', NF_REAL, 1, [x], variables(2)))
  call good(nfmpi_comp_codec(file, variables(1), 'shuffle+zstd', 1024_8))
  call good(nfmpi_comp_codec(file, variables(2), 'xor   ', 0_8))
  if (nfmpi_comp_codec(file, variables(2), 'no such codec', 0_8) /= NF_EINVAL) call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
  if (nfmpi_comp_codec(file, 3, 'xor', 0_8) /= NF_ENOTVAR) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  call good(nfmpi_enddef(file))
  start(1) = rank * each + 1
  count(1) = each
  values = [(273.15 + 0.25 * i, i = 1, each)]
  do i = 1, 2
    call good(nfmpi_put_vara_real_all(file, variables(i), start, count, values))
    got = 0
    call good(nfmpi_get_vara_real_all(file, variables(i), start, count, got))
    if (any(got /= values)) call MPI_Abort(MPI_COMM_WORLD, 4, ierr)
  end do
  call good(nfmpi_close(file))
  call MPI_Finalize(ierr)

contains
  subroutine good(code)
    integer, intent(in) :: code
    if (code == NF_NOERR) return
    print *, nfmpi_strerror(code)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
