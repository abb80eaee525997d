// The nonblocking calls: iput, bput and iget of every kind, several variables in one wait, wait and wait_all, by number
// and by NC_REQ_ALL and its kin, cancelled requests, buffers attached for bput, requests that are pending at close.
#include "check.h"

enum { kRows = 3, kColumns = 8, kEach = kRows * kColumns, kVariables = 9 };

static int dims[2], v[kVariables];
enum { kTurn = 1 };  // varn's rows begin with this one

static float value(int i, MPI_Offset row, MPI_Offset column) { return (float)(i * 1000 + row * 10 + column) + 0.25F; }

static void fill(float *buffer, int i, int of) {
  for (int k = 0; k < kEach; ++k) buffer[k] = value(i, of * kRows + k / kColumns, k % kColumns);
}

static void check(const float *buffer, int i, int of, const char *what) {
  for (int k = 0; k < kEach; ++k) SAME(buffer[k], value(i, of * kRows + k / kColumns, k % kColumns), what, k);
}

static void check_statuses(const int *statuses, int count) {
  for (int i = 0; i < count; ++i) NC(statuses[i]);
}

/// One request of each kind, each for one variable: which of them, and its buffer.
static int post(int file, int reading, float buffers[][kEach], int *requests) {
  const int of = reading ? (rank + 1) % size : rank;
  const MPI_Offset start[2] = {of * kRows, 0}, count[2] = {kRows, kColumns}, stride[2] = {1, 1}, map[2] = {1, kRows};
  MPI_Offset starts[kRows][2], counts[kRows][2], *start_list[kRows], *count_list[kRows];
  // A row a piece: PnetCDF 1.12.3 itself fails (NC_EFILE) when a wait has a piece of several records before other
  // variables'.
  for (int r = 0; r < kRows; ++r) {
    starts[r][0] = of * kRows + (r + kTurn) % kRows;
    starts[r][1] = 0;
    counts[r][0] = 1;
    counts[r][1] = kColumns;
    start_list[r] = starts[r];
    count_list[r] = counts[r];
  }
  if (reading) {
    NC(ncmpi_iget_vara_float(file, v[0], start, count, buffers[0], &requests[0]));
    NC(ncmpi_iget_vars_float(file, v[1], start, count, stride, buffers[1], &requests[1]));
    NC(ncmpi_iget_varm_float(file, v[2], start, count, stride, map, buffers[2], &requests[2]));
    NC(ncmpi_iget_varn_float(file, v[3], kRows, start_list, count_list, buffers[3], &requests[3]));
    NC(ncmpi_iget_vara(file, v[4], start, count, buffers[4], kEach, MPI_FLOAT, &requests[4]));
    return 5;
  }
  for (int i = 0; i < 5; ++i) fill(buffers[i], i, of);
  float turned[kEach], moved[kEach];
  for (int k = 0; k < kEach; ++k) turned[k % kColumns * kRows + k / kColumns] = buffers[2][k];
  memcpy(buffers[2], turned, sizeof turned);
  for (int k = 0; k < kEach; ++k) moved[k] = buffers[3][(k + kTurn * kColumns) % kEach];
  memcpy(buffers[3], moved, sizeof moved);
  NC(ncmpi_iput_vara_float(file, v[0], start, count, buffers[0], &requests[0]));
  NC(ncmpi_iput_vars_float(file, v[1], start, count, stride, buffers[1], &requests[1]));
  NC(ncmpi_iput_varm_float(file, v[2], start, count, stride, map, buffers[2], &requests[2]));
  NC(ncmpi_iput_varn_float(file, v[3], kRows, start_list, count_list, buffers[3], &requests[3]));
  NC(ncmpi_iput_vara(file, v[4], start, count, buffers[4], kEach, MPI_FLOAT, &requests[4]));
  return 5;
}

/// What post() read, in the order of the file.
static void check_posted(float buffers[][kEach]) {
  const int of = (rank + 1) % size;
  float rows[kEach];
  for (int k = 0; k < kEach; ++k) rows[k] = buffers[2][k % kColumns * kRows + k / kColumns];
  memcpy(buffers[2], rows, sizeof rows);
  for (int k = 0; k < kEach; ++k) rows[(k + kTurn * kColumns) % kEach] = buffers[3][k];
  memcpy(buffers[3], rows, sizeof rows);
  for (int i = 0; i < 5; ++i) check(buffers[i], i, of, "iget");
}

/// Elements one by one, each a request.
static void singles(int file, int reading) {
  int requests[kEach], statuses[kEach];
  float buffer[kEach];
  const int of = reading ? (rank + 1) % size : rank;
  if (!reading) fill(buffer, 5, of);
  for (int k = kEach - 1; k >= 0; --k) {
    const MPI_Offset at[2] = {of * kRows + k / kColumns, k % kColumns};
    NC(reading ? ncmpi_iget_var1_float(file, v[5], at, &buffer[k], &requests[k])
               : ncmpi_iput_var1_float(file, v[5], at, &buffer[k], &requests[k]));
  }
  NC(ncmpi_wait_all(file, kEach, requests, statuses));
  check_statuses(statuses, kEach);
  for (int k = 0; k < kEach; ++k) SAME(requests[k], NC_REQ_NULL, "request", k);
  if (reading) check(buffer, 5, of, "iget_var1");
}

/// Buffers may be used again as soon as bput returns.
static void buffered(int file) {
  const MPI_Offset start[2] = {rank * kRows, 0}, count[2] = {1, kColumns};
  MPI_Offset used = -1, all = -1;
  int requests[kRows], statuses[kRows];
  float row[kColumns];
  ENDS(ncmpi_bput_vara_float(file, v[6], start, count, row, &requests[0]), NC_ENULLABUF);
  NC(ncmpi_buffer_attach(file, kEach * (MPI_Offset)sizeof(float)));
  ENDS(ncmpi_buffer_attach(file, 16), NC_EPREVATTACHBUF);
  for (int r = 0; r < kRows; ++r) {
    const MPI_Offset at[2] = {start[0] + r, 0};
    for (int c = 0; c < kColumns; ++c) row[c] = value(6, at[0], c);
    NC(ncmpi_bput_vara_float(file, v[6], at, count, row, &requests[r]));
    for (int c = 0; c < kColumns; ++c) row[c] = -1;
    NC(ncmpi_inq_buffer_usage(file, &used));
    SAME(used, (r + 1) * kColumns * (int)sizeof(float), "used", r);
  }
  NC(ncmpi_inq_buffer_size(file, &all));
  SAME(all, kEach * sizeof(float), "size", 0);
  ENDS(ncmpi_bput_vara_float(file, v[6], start, count, row, NULL), NC_EINSUFFBUF);
  ENDS(ncmpi_buffer_detach(file), NC_EPENDINGBPUT);
  NC(ncmpi_wait_all(file, kRows, requests, statuses));
  check_statuses(statuses, kRows);
  NC(ncmpi_inq_buffer_usage(file, &used));
  SAME(used, 0, "used", kRows);
  NC(ncmpi_buffer_detach(file));
  ENDS(ncmpi_buffer_detach(file), NC_ENULLABUF);
}

/// A cancelled write leaves what was there; the others of the same wait are done.
static void cancelled(int file) {
  const MPI_Offset start[2] = {rank * kRows, 0}, count[2] = {kRows, kColumns};
  float first[kEach], other[kEach], kept[kEach];
  int requests[3], statuses[3], left = -1;
  fill(first, 7, rank);
  NC(ncmpi_put_vara_float_all(file, v[7], start, count, first));
  for (int k = 0; k < kEach; ++k) other[k] = -5;
  fill(kept, 8, rank);
  NC(ncmpi_iput_vara_float(file, v[7], start, count, other, &requests[0]));
  NC(ncmpi_iput_vara_float(file, v[8], start, count, kept, &requests[1]));
  NC(ncmpi_inq_nreqs(file, &left));
  SAME(left, 2, "requests", 0);
  NC(ncmpi_cancel(file, 1, &requests[0], &statuses[0]));
  NC(statuses[0]);
  SAME(requests[0], NC_REQ_NULL, "request", 0);
  NC(ncmpi_inq_nreqs(file, &left));
  SAME(left, 1, "requests", 1);
  NC(ncmpi_wait_all(file, 2, requests, statuses));
  NC(statuses[1]);
  NC(ncmpi_iget_vara_float(file, v[7], start, count, other, &requests[2]));
  NC(ncmpi_cancel(file, NC_GET_REQ_ALL, NULL, NULL));
  NC(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
  for (int k = 0; k < kEach; ++k) SAME(other[k], -5, "cancelled iget", k);
  NC(ncmpi_get_vara_float_all(file, v[7], start, count, other));
  check(other, 7, rank, "cancelled");
}

/// Writes and reads in one wait, and each rank as many as it likes.
static void mixed_waits(int file) {
  float got[kEach], next[kEach];
  const MPI_Offset start[2] = {rank * kRows, 0}, count[2] = {kRows, kColumns};
  fill(next, 8, rank);
  for (int i = 0; i < rank; ++i) {
    const MPI_Offset row[2] = {rank * kRows + i % kRows, 0}, one[2] = {1, kColumns};
    NC(ncmpi_iput_vara_float(file, v[8], row, one, next + i % kRows * kColumns, NULL));
  }
  NC(ncmpi_iget_vara_float(file, v[7], start, count, got, NULL));
  NC(ncmpi_wait_all(file, NC_PUT_REQ_ALL, NULL, NULL));
  NC(ncmpi_wait_all(file, NC_GET_REQ_ALL, NULL, NULL));
  check(got, 7, rank, "mixed");
}

/// A wait of this rank alone.
static void independent(int file) {
  float buffers[5][kEach];
  int requests[5], statuses[5];
  NC(ncmpi_begin_indep_data(file));
  const int count = post(file, 0, buffers, requests);
  for (int i = 0; i < count; ++i) NC(ncmpi_wait(file, 1, &requests[i], &statuses[i]));
  check_statuses(statuses, count);
  if (rank == 0) {
    const MPI_Offset start[2] = {0, 0}, rows[2] = {kRows, kColumns};
    float got[kEach];
    NC(ncmpi_iget_vara_float(file, v[0], start, rows, got, &requests[0]));
    NC(ncmpi_wait(file, NC_REQ_ALL, NULL, NULL));
    check(got, 0, 0, "independent");
  }
  NC(ncmpi_end_indep_data(file));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const int by_itself = told(argc, argv, "independent");
  int file = create("nonblocking.nc", NC_64BIT_DATA);
  dims[0] = dimension(file, "row", told(argc, argv, "records") ? NC_UNLIMITED : kRows * size);
  dims[1] = dimension(file, "column", kColumns);
  for (int i = 0; i < kVariables; ++i) {
    char name[8];
    snprintf(name, sizeof name, "v%d", i);
    v[i] = variable(file, name, NC_FLOAT, 2, dims);
  }
  NC(ncmpi_enddef(file));
  float buffers[5][kEach];
  int requests[5], statuses[5];
  if (by_itself) {
    independent(file);
  } else {
    const int count = post(file, 0, buffers, requests);
    NC(ncmpi_wait_all(file, count, requests, statuses));
    check_statuses(statuses, count);
  }
  singles(file, 0);
  buffered(file);
  cancelled(file);
  mixed_waits(file);
  settle(file);
  for (int again = 0; again < 2; ++again) {
    const int count = post(file, 1, buffers, requests);
    if (again) {
      NC(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
    } else {
      NC(ncmpi_wait_all(file, count, requests, statuses));
      check_statuses(statuses, count);
    }
    check_posted(buffers);
    singles(file, 1);
    for (int i = 6; i < kVariables; ++i) {
      const int of = (rank + 1) % size;
      const MPI_Offset start[2] = {of * kRows, 0}, rows[2] = {kRows, kColumns};
      NC(ncmpi_get_vara_float_all(file, v[i], start, rows, buffers[0]));
      check(buffers[0], i, of, "whole");
    }
    close_and_tell(file, again ? "reopened" : "created");
    if (!again) file = reopen("nonblocking.nc", NC_NOWRITE);
  }
  return finish();
}
