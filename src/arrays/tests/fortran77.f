! PnetCDF's Fortran 77 interface: variables of several types and of records, written and read by blocking, independent and
! nonblocking calls, with every value checked.
      program fortran77
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer ierr, rank, size, file, code, x, y, t, i, j, k
      integer reals, doubles, ints, record, text, shorts, round
      integer dims(2), requests(2), statuses(2)
      integer*8 start(2), count(2), stride(2), one(2), length
      integer nx, each
      parameter (nx = 5, each = 3)
      real*4 r(nx, each), s(nx, each)
      real*8 d(nx, each), e(nx, each)
      integer v(nx, each), w(nx, each)
      integer*2 h(nx, each)
      character*8 word, got
      integer of

      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
      code = nfmpi_create(MPI_COMM_WORLD, 'fortran77.nc',
     &                    IOR(NF_CLOBBER, NF_64BIT_OFFSET), MPI_INFO_NULL, file)
      call good(code, 'create')
      length = nx
      call good(nfmpi_def_dim(file, 'x', length, x), 'x')
      length = each * size
      call good(nfmpi_def_dim(file, 'y', length, y), 'y')
      call good(nfmpi_def_dim(file, 't', NFMPI_UNLIMITED, t), 't')
      dims(1) = x
      dims(2) = y
      call good(nfmpi_def_var(file, 'reals', NF_REAL, 2, dims, reals), 'reals')
      call good(nfmpi_def_var(file, 'doubles', NF_DOUBLE, 2, dims, doubles), 'doubles')
      call good(nfmpi_def_var(file, 'ints', NF_INT, 2, dims, ints), 'ints')
      call good(nfmpi_def_var(file, 'shorts', NF_SHORT, 2, dims, shorts), 'shorts')
      dims(2) = t
      call good(nfmpi_def_var(file, 'record', NF_REAL, 2, dims, record), 'record')
      call good(nfmpi_def_var(file, 'text', NF_CHAR, 1, dims, text), 'text')
      length = 5
      call good(nfmpi_put_att_text(file, NF_GLOBAL, 'title', length, 'words'), 'title')
      call good(nfmpi_enddef(file), 'enddef')

      do j = 1, each
        do i = 1, nx
          k = (rank * each + j) * 100 + i
          r(i, j) = k + 0.5
          d(i, j) = k + 0.25d0
          v(i, j) = -k
        end do
      end do
      start(1) = 1
      start(2) = rank * each + 1
      count(1) = nx
      count(2) = each
      call good(nfmpi_put_vara_real_all(file, reals, start, count, r), 'put reals')
      call good(nfmpi_iput_vara_double(file, doubles, start, count, d, requests(1)), 'iput')
      call good(nfmpi_iput_vara_real(file, record, start, count, r, requests(2)), 'iput')
      call good(nfmpi_wait_all(file, 2, requests, statuses), 'wait')
      call good(statuses(1), 'status')
      call good(statuses(2), 'status')
      stride(1) = 2
      stride(2) = 1
      call good(nfmpi_begin_indep_data(file), 'begin')
      call good(nfmpi_put_vara_int(file, ints, start, count, v), 'put ints')
      call good(nfmpi_end_indep_data(file), 'end')
      call good(nfmpi_put_vara_int_all(file, shorts, start, count, v), 'put shorts')
      word = 'atoms'
      one(1) = 1
      count(1) = 5
      call good(nfmpi_put_vara_text_all(file, text, one, count, word), 'put text')
      count(1) = nx
      call good(nfmpi_sync(file), 'sync')
      call MPI_Barrier(MPI_COMM_WORLD, ierr)

      do round = 1, 2
        of = mod(rank + round, size)
        start(2) = of * each + 1
        call good(nfmpi_get_vara_real_all(file, reals, start, count, s), 'get reals')
        call good(nfmpi_get_vara_double_all(file, doubles, start, count, e), 'get doubles')
        call good(nfmpi_iget_vara_int(file, ints, start, count, w, requests(1)), 'iget')
        call good(nfmpi_iget_vara_real(file, record, start, count, r, requests(2)), 'iget')
        call good(nfmpi_wait_all(file, 2, requests, statuses), 'wait')
        call good(nfmpi_get_vara_int2_all(file, shorts, start, count, h), 'get shorts')
        do j = 1, each
          do i = 1, nx
            k = (of * each + j) * 100 + i
            if (s(i, j) .ne. k + 0.5 .or. e(i, j) .ne. k + 0.25d0 .or. w(i, j) .ne. -k .or.
     &          r(i, j) .ne. k + 0.5 .or. h(i, j) .ne. -k) then
              print *, 'rank', rank, 'of', of, ':', i, j, s(i, j), e(i, j), w(i, j), r(i, j), h(i, j)
              call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
            end if
          end do
        end do
        got = ' '
        count(1) = 5
        call good(nfmpi_get_vara_text_all(file, text, one, count, got), 'get text')
        count(1) = nx
        if (got(1:5) .ne. 'atoms') call good(-1, 'text')
        call good(nfmpi_close(file), 'close')
        if (round .eq. 1) call good(nfmpi_open(MPI_COMM_WORLD, 'fortran77.nc', NF_NOWRITE, MPI_INFO_NULL, file), 'open')
      end do
      if (rank .eq. 0) print '(a)', 'ok'
      call MPI_Finalize(ierr)
      end

      subroutine good(code, what)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer code, ierr
      character*(*) what
      if (code .ne. NF_NOERR) then
        print *, what, ': ', nfmpi_strerror(code)
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      end if
      end
