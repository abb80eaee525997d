! PnetCDF's Fortran 90 interface: overloaded calls with optional arguments, sections of arrays, records, text, conversion,
! nonblocking calls, attributes, with every value checked.
program fortran90
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: nx = 6, each = 4, layers = 2
  integer :: rank, ranks, ierr, file, x, y, z, t, cube, levels, names, record, of, i, j, k, round, status(1)
  integer(kind=MPI_OFFSET_KIND) :: start(3), counts(3), length
  real :: values(nx, each, layers), read_values(nx, each, layers)
  real(kind=8) :: wide(nx, each, layers), bounds(2)
  integer :: numbers(nx), read_numbers(nx), requests(1)
  character(len=8) :: word

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call good(nf90mpi_create(MPI_COMM_WORLD, 'fortran90.nc', ior(NF90_CLOBBER, NF90_64BIT_DATA), MPI_INFO_NULL, file))
  call good(nf90mpi_def_dim(file, 'x', int(nx, MPI_OFFSET_KIND), x))
  call good(nf90mpi_def_dim(file, 'y', int(each * ranks, MPI_OFFSET_KIND), y))
  call good(nf90mpi_def_dim(file, 'z', int(layers, MPI_OFFSET_KIND), z))
  call good(nf90mpi_def_dim(file, 't', NF90MPI_UNLIMITED, t))
  call good(nf90mpi_def_var(file, 'cube', NF90_FLOAT, (/x, y, z/), cube))
  call good(nf90mpi_def_var(file, 'levels', NF90_SHORT, (/x, z/), levels))
  call good(nf90mpi_def_var(file, 'names', NF90_CHAR, (/x, y/), names))
  call good(nf90mpi_def_var(file, 'record', NF90_INT, (/x, t/), record))
  call good(nf90mpi_put_att(file, cube, 'bounds', (/1.5d0, -2.5d0/)))
  call good(nf90mpi_put_att(file, NF90_GLOBAL, 'title', 'cubes'))
  call good(nf90mpi_enddef(file))

  do k = 1, layers
    do j = 1, each
      do i = 1, nx
        values(i, j, k) = value(i, rank * each + j, k)
      end do
    end do
  end do
  start = (/1, rank * each + 1, 1/)
  counts = (/nx, each, layers/)
  call good(nf90mpi_put_var_all(file, cube, values, start, counts))
  if (rank == 0) then
    counts(1:2) = (/nx, 1/)
  else
    counts(1:2) = 0
  end if
  do k = 1, layers
    numbers = (/(100 * i + k, i=1, nx)/)
    call good(nf90mpi_put_var_all(file, levels, numbers, int((/1, k/), MPI_OFFSET_KIND), counts(1:2)))
  end do
  write (word, '(a,i0)') 'row', rank
  do j = 1, each
    call good(nf90mpi_put_var_all(file, names, word(1:nx), int((/1, rank * each + j/), MPI_OFFSET_KIND), &
                                  int((/nx, 1/), MPI_OFFSET_KIND)))
  end do
  do round = 0, 2
    numbers = (/(1000 * (round * ranks + rank) + i, i=1, nx)/)
    call good(nf90mpi_iput_var(file, record, numbers, requests(1), int((/1, round * ranks + rank + 1/), MPI_OFFSET_KIND), &
                               int((/nx, 1/), MPI_OFFSET_KIND)))
    call good(nf90mpi_wait_all(file, 1, requests, status))
    call good(status(1))
  end do
  call good(nf90mpi_sync(file))
  call MPI_Barrier(MPI_COMM_WORLD, ierr)

  do round = 1, 2
    of = mod(rank + round, ranks)
    start = (/1, of * each + 1, 1/)
    counts = (/nx, each, layers/)
    call good(nf90mpi_get_var_all(file, cube, read_values, start, counts))
    call good(nf90mpi_begin_indep_data(file))
    call good(nf90mpi_get_var(file, cube, wide, start, counts))
    call good(nf90mpi_end_indep_data(file))
    do k = 1, layers
      do j = 1, each
        do i = 1, nx
          call same(dble(read_values(i, j, k)), dble(value(i, of * each + j, k)), 'cube')
          call same(wide(i, j, k), dble(value(i, of * each + j, k)), 'cube as doubles')
        end do
      end do
      call good(nf90mpi_get_var_all(file, levels, read_numbers, int((/1, k/), MPI_OFFSET_KIND), int((/nx, 1/), MPI_OFFSET_KIND)))
      do i = 1, nx
        call same(dble(read_numbers(i)), dble(100 * i + k), 'levels')
      end do
    end do
    call good(nf90mpi_inquire_dimension(file, t, len=length))
    call same(dble(length), dble(3 * ranks), 'records')
    do j = 0, 3 * ranks - 1
      call good(nf90mpi_get_var_all(file, record, read_numbers, int((/1, j + 1/), MPI_OFFSET_KIND), int((/nx, 1/), MPI_OFFSET_KIND)))
      do i = 1, nx
        call same(dble(read_numbers(i)), dble(1000 * j + i), 'record')
      end do
    end do
    word = ' '
    call good(nf90mpi_get_var_all(file, names, word(1:nx), int((/1, of * each + 1/), MPI_OFFSET_KIND), int((/nx, 1/), MPI_OFFSET_KIND)))
    if (word(1:3) /= 'row') call same(0d0, 1d0, 'names')
    call good(nf90mpi_get_att(file, cube, 'bounds', bounds))
    call same(bounds(2), -2.5d0, 'bounds')
    call good(nf90mpi_close(file))
    if (round == 1) call good(nf90mpi_open(MPI_COMM_WORLD, 'fortran90.nc', NF90_NOWRITE, MPI_INFO_NULL, file))
  end do
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(ierr)

contains
  real function value(i, j, k)
    integer, intent(in) :: i, j, k
    value = 280.0 + i + j / 8.0 - 6.5 * k
  end function value

  subroutine good(code)
    integer, intent(in) :: code
    if (code /= NF90_NOERR) then
      print *, trim(nf90mpi_strerror(code))
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end if
  end subroutine good

  subroutine same(got, wanted, what)
    real(kind=8), intent(in) :: got, wanted
    character(len=*), intent(in) :: what
    if (got /= wanted) then
      print *, 'rank', rank, what, got, wanted
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end if
  end subroutine same
end program fortran90
