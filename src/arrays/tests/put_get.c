// Every kind of blocking call (var1, var, vara, vars, varm, varn, vard) with every type, collective and independent:
// each writes all of a variable, and each reads it back. With `records` the rows are records; `cdf1` and `cdf2` use
// those formats and their types only.
//   put_get [records] [cdf1 | cdf2]
#include "check.h"

enum { kVar1, kVara, kVars, kVarm, kVarn, kVard, kVar, kKinds };
enum { kRows = 2, kColumns = 5, kEach = kRows * kColumns };  // of a rank

static const char *const kNames[kKinds] = {"var1", "vara", "vars", "varm", "varn", "vard", "var"};

static int records;

static double wanted(int kind, int all, int type, MPI_Offset place) {
  return (double)((place * 7 + kind * 13 + all * 5 + type * 3) % 101 + 1);
}

/// The rows of one rank in the file, for vard.
static MPI_Datatype rows_of(int file, int of, MPI_Datatype element) {
  MPI_Offset stride;
  int bytes;
  MPI_Type_size(element, &bytes);
  stride = (MPI_Offset)bytes * kColumns;
  if (records) NC(ncmpi_inq_recsize(file, &stride));
  int lengths[kRows];
  MPI_Aint displacements[kRows];
  for (int r = 0; r < kRows; ++r) {
    lengths[r] = kColumns;
    displacements[r] = (MPI_Aint)((of * kRows + r) * stride);
  }
  MPI_Datatype type;
  MPI_Type_create_hindexed(kRows, lengths, displacements, element, &type);
  MPI_Type_commit(&type);
  return type;
}

/// The pieces of varn: a row, and another in two parts.
static void pieces_of(int of, MPI_Offset starts[3][2], MPI_Offset counts[3][2], MPI_Offset *start_list[3],
                      MPI_Offset *count_list[3]) {
  const MPI_Offset pieces[3][3] = {{1, 0, 2}, {0, 0, kColumns}, {1, 2, kColumns - 2}};
  for (int p = 0; p < 3; ++p) {
    starts[p][0] = of * kRows + pieces[p][0];
    starts[p][1] = pieces[p][1];
    counts[p][0] = 1;
    counts[p][1] = pieces[p][2];
    start_list[p] = starts[p];
    count_list[p] = counts[p];
  }
}

// CALL(put, vara, int, all, ...) is ncmpi_put_vara_int_all or ncmpi_put_vara_int.
#define CALL(way, kind, type, all, ...) \
  NC((all) ? ncmpi_##way##_##kind##_##type##_all(__VA_ARGS__) : ncmpi_##way##_##kind##_##type(__VA_ARGS__))

#define MOVES(way, name, ctype, mpi)                                                                         \
  static void way##_##name(int file, int variable, int kind, int all, int of, ctype *buffer, ctype *whole) { \
    const MPI_Offset start[2] = {(MPI_Offset)of * kRows, 0}, count[2] = {kRows, kColumns};                   \
    if (kind == kVar1) {                                                                                     \
      for (int i = 0; i < kEach; ++i) {                                                                      \
        const MPI_Offset at[2] = {start[0] + i / kColumns, i % kColumns};                                    \
        CALL(way, var1, name, all, file, variable, at, buffer + i);                                          \
      }                                                                                                      \
    } else if (kind == kVara) {                                                                              \
      CALL(way, vara, name, all, file, variable, start, count, buffer);                                      \
    } else if (kind == kVars) {                                                                              \
      for (int odd = 0; odd < 2; ++odd) {                                                                    \
        const MPI_Offset from[2] = {start[0], odd}, some[2] = {kRows, (kColumns + 1 - odd) / 2};             \
        const MPI_Offset stride[2] = {1, 2};                                                                 \
        ctype part[kEach];                                                                                   \
        for (int i = 0; i < some[0] * some[1]; ++i) {                                                        \
          part[i] = buffer[i / some[1] * kColumns + i % some[1] * 2 + odd];                                  \
        }                                                                                                    \
        CALL(way, vars, name, all, file, variable, from, some, stride, part);                                \
        for (int i = 0; i < some[0] * some[1]; ++i) {                                                        \
          buffer[i / some[1] * kColumns + i % some[1] * 2 + odd] = part[i];                                  \
        }                                                                                                    \
      }                                                                                                      \
    } else if (kind == kVarm) {                                                                              \
      ctype turned[kEach];                                                                                   \
      const MPI_Offset map[2] = {1, kRows}, stride[2] = {1, 1};                                              \
      for (int i = 0; i < kEach; ++i) turned[i % kColumns * kRows + i / kColumns] = buffer[i];               \
      CALL(way, varm, name, all, file, variable, start, count, stride, map, turned);                         \
      for (int i = 0; i < kEach; ++i) buffer[i] = turned[i % kColumns * kRows + i / kColumns];               \
    } else if (kind == kVarn) {                                                                              \
      MPI_Offset starts[3][2], counts[3][2], *start_list[3], *count_list[3];                                 \
      pieces_of(of, starts, counts, start_list, count_list);                                                 \
      ctype part[kEach];                                                                                     \
      /* as in pieces_of: two of row 1, row 0, the rest of row 1 */                                          \
      for (int i = 0; i < kEach; ++i) part[i] = buffer[i < 2 ? kColumns + i : i < 2 + kColumns ? i - 2 : i]; \
      CALL(way, varn, name, all, file, variable, 3, start_list, count_list, part);                           \
      for (int i = 0; i < kEach; ++i) buffer[i < 2 ? kColumns + i : i < 2 + kColumns ? i - 2 : i] = part[i]; \
    } else if (kind == kVard) {                                                                              \
      MPI_Datatype rows = rows_of(file, of, mpi);                                                            \
      NC(all ? ncmpi_##way##_vard_all(file, variable, rows, buffer, kEach, mpi)                              \
             : ncmpi_##way##_vard(file, variable, rows, buffer, kEach, mpi));                                \
      MPI_Type_free(&rows);                                                                                  \
    } else {                                                                                                 \
      CALL(way, var, name, all, file, variable, whole);                                                      \
      memcpy(buffer, whole + of * kEach, kEach * sizeof(ctype));                                             \
    }                                                                                                        \
  }

#define PROGRAM(number, name, ctype, nctype, mpi)                                             \
  MOVES(put, name, ctype, mpi)                                                                \
  MOVES(get, name, ctype, mpi)                                                                \
  static void define_##name(int file, const int *dims, int ids[2][kKinds]) {                  \
    for (int all = 0; all < 2; ++all) {                                                       \
      for (int kind = 0; kind < kKinds; ++kind) {                                             \
        char title[40];                                                                       \
        snprintf(title, sizeof title, "%s_%s%s", kNames[kind], #name, all ? "_all" : "");     \
        ids[all][kind] = variable(file, title, nctype, 2, dims);                              \
      }                                                                                       \
    }                                                                                         \
  }                                                                                           \
  static void write_##name(int file, int all, int ids[2][kKinds]) {                           \
    ctype *whole = malloc((size_t)(kEach * size) * sizeof(ctype));                            \
    for (int kind = 0; kind < kKinds; ++kind) {                                               \
      for (int i = 0; i < kEach * size; ++i) whole[i] = (ctype)wanted(kind, all, number, i);  \
      ctype mine[kEach];                                                                      \
      memcpy(mine, whole + rank * kEach, sizeof mine);                                        \
      if (kind == kVar && !all && rank != 0) continue; /* one rank writes it all */           \
      put_##name(file, ids[all][kind], kind, all, rank, mine, whole);                         \
    }                                                                                         \
    free(whole);                                                                              \
  }                                                                                           \
  /* Reads every variable in every way, and the rows of the next rank. */                     \
  static void check_##name(int file, int all, int ids[2][kKinds]) {                           \
    const int of = (rank + 1) % size;                                                         \
    ctype *whole = malloc((size_t)(kEach * size) * sizeof(ctype));                            \
    for (int written = 0; written < kKinds; ++written) {                                      \
      const int kind = (written + number) % kKinds;                                           \
      ctype got[kEach];                                                                       \
      memset(got, 0, sizeof got);                                                             \
      get_##name(file, ids[all][written], kind, all, of, got, whole);                         \
      for (int i = 0; i < kEach; ++i) {                                                       \
        SAME(got[i], (ctype)wanted(written, all, number, of *kEach + i), kNames[written], i); \
      }                                                                                       \
    }                                                                                         \
    free(whole);                                                                              \
  }

#define CLASSIC_TYPES(X)                             \
  X(0, text, char, NC_CHAR, MPI_CHAR)                \
  X(1, schar, signed char, NC_BYTE, MPI_SIGNED_CHAR) \
  X(2, short, short, NC_SHORT, MPI_SHORT)            \
  X(3, int, int, NC_INT, MPI_INT)                    \
  X(4, float, float, NC_FLOAT, MPI_FLOAT)            \
  X(5, double, double, NC_DOUBLE, MPI_DOUBLE)
#define NEW_TYPES(X)                                          \
  X(6, uchar, unsigned char, NC_UBYTE, MPI_UNSIGNED_CHAR)     \
  X(7, ushort, unsigned short, NC_USHORT, MPI_UNSIGNED_SHORT) \
  X(8, uint, unsigned int, NC_UINT, MPI_UNSIGNED)             \
  X(9, longlong, long long, NC_INT64, MPI_LONG_LONG_INT)      \
  X(10, ulonglong, unsigned long long, NC_UINT64, MPI_UNSIGNED_LONG_LONG)

CLASSIC_TYPES(PROGRAM)
NEW_TYPES(PROGRAM)

#define DEFINE(number, name, ctype, nctype, mpi) define_##name(file, dims, ids[number]);
#define WRITE(number, name, ctype, nctype, mpi) write_##name(file, all, ids[number]);
#define CHECK_ALL(number, name, ctype, nctype, mpi) check_##name(file, all, ids[number]);

int main(int argc, char **argv) {
  start(&argc, &argv);
  records = told(argc, argv, "records");
  const int mode = told(argc, argv, "cdf1") ? 0 : told(argc, argv, "cdf2") ? NC_64BIT_OFFSET : NC_64BIT_DATA;
  const int classic = mode != NC_64BIT_DATA;
  int ids[11][2][kKinds];
  int file = create("put_get.nc", mode);
  const int dims[2] = {dimension(file, "row", records ? NC_UNLIMITED : kRows * size),
                       dimension(file, "column", kColumns)};
  CLASSIC_TYPES(DEFINE)
  if (!classic) {
    NEW_TYPES(DEFINE)
  }
  NC(ncmpi_enddef(file));
  // Collective first: `var` writes as many records as there are.
  for (int all = 1; all >= 0; --all) {
    if (!all) NC(ncmpi_begin_indep_data(file));
    CLASSIC_TYPES(WRITE)
    if (!classic) {
      NEW_TYPES(WRITE)
    }
    if (!all) NC(ncmpi_end_indep_data(file));
  }
  settle(file);
  for (int again = 0; again < 2; ++again) {
    for (int all = 1; all >= 0; --all) {
      if (!all) NC(ncmpi_begin_indep_data(file));
      CLASSIC_TYPES(CHECK_ALL)
      if (!classic) {
        NEW_TYPES(CHECK_ALL)
      }
      if (!all) NC(ncmpi_end_indep_data(file));
    }
    close_and_tell(file, again ? "reopened" : "created");
    if (!again) file = reopen("put_get.nc", NC_NOWRITE);
  }
  return finish();
}
