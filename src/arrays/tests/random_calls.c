// A pseudo-random run of calls against a model in memory: collective, independent and nonblocking writes and reads of
// boxes, strided boxes and lists of pieces, of several variables of different type, fixed and of records; syncs, new
// definitions, closing and opening again. All ranks draw the same calls; within an epoch no two write the same place.
//   random_calls SEED CALLS [cdf1]
#include "check.h"

enum { kVariables = 5, kMost = 9, kColumns = 23, kPieces = 3 };

typedef struct {
  const char *name;
  nc_type type;
  int rows;  // a rank; 0: of records
} Kind;
static const Kind kKinds[kMost] = {
    {"floats", NC_FLOAT, 9},        {"record_shorts", NC_SHORT, 0}, {"doubles", NC_DOUBLE, 5},
    {"record_floats", NC_FLOAT, 0}, {"bytes", NC_BYTE, 31},         {"more_ints", NC_INT, 8},
    {"record_ints", NC_INT, 0},     {"more_floats", NC_FLOAT, 12},  {"record_bytes", NC_BYTE, 0}};
enum { kRecords = 24 };  // at most

static unsigned long long dice_state;
static unsigned dice(unsigned sides) { return (unsigned)(mixed(dice_state++) >> 20) % sides; }

static int file = -1, variables = 0, ids[kMost];
static short *model[kMost];  // -1: never written
static int records = 0;      // as many as were written by any
static const char *path = "random_calls.nc";

static int rows_of(int v) { return kKinds[v].rows ? kKinds[v].rows * size : kRecords; }

/// The rows that one rank may write in this epoch.
static void band_of(int v, int of, int turn, int *first, int *past) {
  const int rows = rows_of(v), place = (of + turn) % size;
  *first = rows * place / size;
  *past = rows * (place + 1) / size;
}

static void define(int upto) {
  static int time = -1, column = -1;
  if (variables == 0) {
    time = dimension(file, "time", NC_UNLIMITED);
    column = dimension(file, "column", kColumns);
  }
  for (; variables < upto; ++variables) {
    char name[24];
    snprintf(name, sizeof name, "rows_%d", variables);
    const int row = kKinds[variables].rows ? dimension(file, name, rows_of(variables)) : time;
    ids[variables] = variable(file, kKinds[variables].name, kKinds[variables].type, 2, (int[]){row, column});
    model[variables] = malloc(sizeof(short) * (size_t)(rows_of(variables) * kColumns));
    for (int i = 0; i < rows_of(variables) * kColumns; ++i) model[variables][i] = -1;
  }
}

typedef struct {
  MPI_Offset start[2], count[2], stride[2];
} Box;

static Box draw(int first, int past) {
  Box box;
  const int lows[2] = {first, 0}, highs[2] = {past, kColumns};
  for (int d = 0; d < 2; ++d) {
    const int extent = highs[d] - lows[d];
    box.start[d] = lows[d] + (int)dice((unsigned)extent);
    box.stride[d] = 1 + (dice(4) == 0 ? dice(3) : 0);
    const int most = (int)((highs[d] - box.start[d] - 1) / box.stride[d] + 1);
    box.count[d] = dice(5) == 0 ? most : 1 + (int)dice((unsigned)most);
  }
  if (dice(4) == 0) {  // whole rows
    box.start[1] = 0;
    box.count[1] = kColumns;
    box.stride[1] = 1;
  }
  return box;
}

static MPI_Offset place_in(const Box *box, MPI_Offset i, MPI_Offset *row) {
  *row = box->start[0] + i / box->count[1] * box->stride[0];
  return *row * kColumns + box->start[1] + i % box->count[1] * box->stride[1];
}

/// One write of each rank, known to all.
static void write_boxes(int how, int turn) {
  const int v = (int)dice((unsigned)variables);
  const int seed = (int)dice(1000000);
  Box boxes[kPieces], mine[kPieces];
  short *values = malloc(sizeof(short) * kPieces * (size_t)(rows_of(v) * kColumns));
  size_t filled = 0;
  int pieces = 0, busy = 0;
  for (int of = 0; of < size; ++of) {
    int first, past;
    band_of(v, of, turn, &first, &past);
    const int writes = first < past && dice(5) != 0;
    const int count = !writes ? 0 : how == 2 ? kPieces : 1;
    for (int p = 0; p < count; ++p) {
      boxes[p] = draw(first, past);
      if (how == 2) {  // a list has no strides, and its pieces must not overlap: single rows in turn
        boxes[p].start[0] = first + p;
        boxes[p].count[0] = first + p < past;
        boxes[p].stride[0] = boxes[p].stride[1] = 1;
        if (boxes[p].start[1] + boxes[p].count[1] > kColumns) boxes[p].count[1] = kColumns - boxes[p].start[1];
        if (boxes[p].count[0] == 0) boxes[p].start[0] = first;
      }
      for (MPI_Offset i = 0; i < boxes[p].count[0] * boxes[p].count[1]; ++i) {
        MPI_Offset row;
        const MPI_Offset place = place_in(&boxes[p], i, &row);
        const short value = (short)(mixed((unsigned long long)(seed + place)) % 120);
        model[v][place] = value;
        if (of == rank) values[filled++] = value;
        if (!kKinds[v].rows && row >= records) records = (int)row + 1;
      }
      if (of == rank) mine[p] = boxes[p];
    }
    if (of == rank) {
      pieces = count;
      busy = writes;
    }
  }
  static const Box kNothing = {{0, 0}, {0, 0}, {1, 1}};
  if (how == 2) {
    MPI_Offset *starts[kPieces], *counts[kPieces];
    for (int p = 0; p < pieces; ++p) {
      starts[p] = mine[p].start;
      counts[p] = mine[p].count;
    }
    NC(ncmpi_put_varn_short_all(file, ids[v], pieces, starts, counts, values));
  } else if (how == 1) {
    NC(ncmpi_begin_indep_data(file));
    if (busy) NC(ncmpi_put_vars_short(file, ids[v], mine[0].start, mine[0].count, mine[0].stride, values));
    NC(ncmpi_end_indep_data(file));
  } else {
    const Box *box = busy ? &mine[0] : &kNothing;
    NC(ncmpi_put_vars_short_all(file, ids[v], box->start, box->count, box->stride, values));
  }
  free(values);
}

/// Several requests of each rank in one wait, for one variable each: the places of a rank differ by variable.
static void post_writes(int turn) {
  short *kept[kMost];
  for (int v = 0; v < variables; ++v) {
    kept[v] = NULL;
    for (int of = 0; of < size; ++of) {
      int first, past;
      band_of(v, of, turn, &first, &past);
      if (first == past || dice(3) == 0) continue;
      Box box = draw(first, past);
      if (!kKinds[v].rows) box.count[0] = 1;  // see nonblocking.c
      const int seed = (int)dice(1000000);
      if (of == rank) kept[v] = malloc(sizeof(short) * (size_t)(box.count[0] * box.count[1]));
      for (MPI_Offset i = 0; i < box.count[0] * box.count[1]; ++i) {
        MPI_Offset row;
        const MPI_Offset place = place_in(&box, i, &row);
        model[v][place] = (short)(mixed((unsigned long long)(seed + place)) % 120);
        if (of == rank) kept[v][i] = model[v][place];
        if (!kKinds[v].rows && row >= records) records = (int)row + 1;
      }
      if (of == rank) NC(ncmpi_iput_vars_short(file, ids[v], box.start, box.count, box.stride, kept[v], NULL));
    }
  }
  NC(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
  for (int v = 0; v < variables; ++v) free(kept[v]);
}

/// Holes hold anything, and that need not fit.
static void got(int code) { CHECK(code == NC_NOERR || code == NC_ERANGE); }

/// Each rank reads a box of its own choice.
static void read_boxes(int independent) {
  const int v = (int)dice((unsigned)variables);
  const int rows = kKinds[v].rows ? rows_of(v) : records;
  Box mine = {{0, 0}, {0, 0}, {1, 1}};
  for (int of = 0; of < size && rows > 0; ++of) {
    const Box box = draw(0, rows);
    if (of == rank) mine = box;
  }
  const MPI_Offset count = mine.count[0] * mine.count[1];
  short *values = malloc(sizeof(short) * (size_t)(count + 1));
  if (independent) {
    NC(ncmpi_begin_indep_data(file));
    if (count) got(ncmpi_get_vars_short(file, ids[v], mine.start, mine.count, mine.stride, values));
    NC(ncmpi_end_indep_data(file));
  } else {
    got(ncmpi_get_vars_short_all(file, ids[v], mine.start, mine.count, mine.stride, values));
  }
  for (MPI_Offset i = 0; i < count; ++i) {
    MPI_Offset row;
    const MPI_Offset place = place_in(&mine, i, &row);
    if (model[v][place] != -1) SAME(values[i], model[v][place], kKinds[v].name, place);
  }
  free(values);
}

static void check_all(void) {
  int time = -1;
  MPI_Offset said = -1;
  NC(ncmpi_inq_unlimdim(file, &time));
  NC(ncmpi_inq_dimlen(file, time, &said));
  SAME(said, records, "records", 0);
  for (int v = 0; v < variables; ++v) {
    const int rows = kKinds[v].rows ? rows_of(v) : records;
    short *values = malloc(sizeof(short) * (size_t)(rows * kColumns + 1));
    got(ncmpi_get_var_short_all(file, ids[v], values));
    for (int i = 0; i < rows * kColumns; ++i) {
      if (model[v][i] != -1) SAME(values[i], model[v][i], kKinds[v].name, i);
    }
    free(values);
  }
}

/// Writes what was never written, so that the file is the same whatever lies in its holes.
static void fill_holes(void) {
  for (int v = 0; v < variables; ++v) {
    const int rows = kKinds[v].rows ? rows_of(v) : records;
    for (int i = 0; i < rows * kColumns; ++i) {
      if (model[v][i] == -1) model[v][i] = 7;
    }
    const MPI_Offset first = rows * rank / size, past = rows * (rank + 1) / size;
    const MPI_Offset start[2] = {first, 0}, count[2] = {past - first, kColumns};
    NC(ncmpi_put_vara_short_all(file, ids[v], start, count, model[v] + first * kColumns));
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(argc > 2);
  const int seed = atoi(argv[1]), calls = atoi(argv[2]);
  dice_state = (unsigned long long)seed << 32;
  file = create(path, told(argc, argv, "cdf1") ? 0 : NC_64BIT_DATA);
  NC(ncmpi_set_fill(file, NC_NOFILL, NULL));
  define(kVariables);
  NC(ncmpi_enddef(file));
  int turn = 0, tally[8] = {0};
  for (int call = 0; call < calls; ++call) {
    const unsigned what = dice(20);
    if (what < 10) {
      const int how = what < 6 ? 0 : what < 8 ? 1 : 2;
      ++tally[how];
      write_boxes(how, turn);
    } else if (what < 12) {
      ++tally[3];
      post_writes(turn);
    } else if (what < 17) {
      ++tally[4];
      settle(file);
      read_boxes(what == 16);
    } else if (what == 17) {
      ++tally[5];
      settle(file);
      ++turn;  // a new epoch: other ranks write these rows
    } else if (what == 18) {
      ++tally[6];
      NC(ncmpi_close(file));
      MPI_Barrier(MPI_COMM_WORLD);
      file = reopen(path, NC_WRITE);
      check_all();
      ++turn;
    } else if (variables < kMost) {
      ++tally[7];
      NC(ncmpi_redef(file));
      define(variables + 1);
      NC(ncmpi_enddef(file));
      settle(file);
      check_all();
      ++turn;
    }
  }
  settle(file);
  fill_holes();
  settle(file);
  check_all();
  close_and_tell(file, "random");
  file = reopen(path, NC_NOWRITE);
  check_all();
  NC(ncmpi_close(file));
  if (rank == 0) {
    printf("%d collective, %d independent, %d lists, %d posted, %d reads, %d syncs, %d reopened, %d redefined\n",
           tally[0], tally[1], tally[2], tally[3], tally[4], tally[5], tally[6], tally[7]);
  }
  for (int v = 0; v < variables; ++v) free(model[v]);
  return finish();
}
