// Writes until it is killed, to six files at a time: each layout, in collective and in independent mode. What has been
// written for certain is noted in "noted", as numbers of 8 bytes: for each file, for each rank, how many steps. `check`
// reads files of such a job, under the names that follow: every value of a step that was noted is there, and no other
// place holds a value that was never written there.
//
//   killed write FOLDER STEPS         killed check NOTED LAYOUT-MODE FILE...
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

enum { kFiles = 6, kEach = 257, kRedefine = 9, kMostRanks = 64 };

static const char *const kNames[kFiles] = {"dense-collective",  "sparse-collective",  "hybrid-collective",
                                           "dense-independent", "sparse-independent", "hybrid-independent"};
static int records, latest, noted;

/// Of a step another, but near: so that steps are coded against each other.
static int value(long long step, long long place) {
  return 1 + (int)(mixed((unsigned long long)place) % 1000000) * 1000 +
         (int)(mixed((unsigned long long)(step * 1000003 + place)) % 1000);
}

static void note(int of, long long steps) {
  CHECK(pwrite(noted, &steps, sizeof steps, (off_t)((of * kMostRanks + rank) * (int)sizeof steps)) == sizeof steps);
}

static int begin(const char *name, int independent) {
  char layout[16] = {0}, path[64];
  strncpy(layout, name, strcspn(name, "-"));
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cairn_layout", layout);
  snprintf(path, sizeof path, "%s.nc", name);
  int file = -1;
  NC(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &file));
  MPI_Info_free(&info);
  const int time = dimension(file, "time", NC_UNLIMITED), x = dimension(file, "x", (MPI_Offset)kEach * size);
  latest = variable(file, "latest", NC_INT, 1, &x);
  records = variable(file, "records", NC_INT, 2, (int[]){time, x});
  NC(ncmpi_enddef(file));
  if (independent) NC(ncmpi_begin_indep_data(file));
  return file;
}

static void step(int file, int independent, long long number) {
  int values[kEach];
  const MPI_Offset start[2] = {number, (MPI_Offset)rank * kEach}, count[2] = {1, kEach};
  for (int i = 0; i < kEach; ++i) values[i] = value(number, rank * kEach + i);
  if (independent) {
    NC(ncmpi_put_vara_int(file, records, start, count, values));
    NC(ncmpi_put_vara_int(file, latest, start + 1, count + 1, values));
  } else {
    NC(ncmpi_put_vara_int_all(file, records, start, count, values));
    NC(ncmpi_put_vara_int_all(file, latest, start + 1, count + 1, values));
  }
}

/// More attributes now and then, until the values have to move.
static void redefine(int file, int independent, long long number) {
  char name[32], text[700];
  memset(text, 'x', sizeof text);
  snprintf(name, sizeof name, "at %lld", number);
  if (independent) NC(ncmpi_end_indep_data(file));
  NC(ncmpi_redef(file));
  NC(ncmpi_put_att_text(file, NC_GLOBAL, name, sizeof text, text));
  NC(ncmpi_enddef(file));
  if (independent) NC(ncmpi_begin_indep_data(file));
}

static void write_all(const char *folder, long long steps) {
  CHECK(chdir(folder) == 0);
  noted = open("noted", O_RDWR | O_CREAT, 0666);
  CHECK(noted >= 0);
  char name[32];
  snprintf(name, sizeof name, "pid%d", rank);
  FILE *pid = fopen(name, "w");
  CHECK(pid != NULL);
  fprintf(pid, "%d\n", (int)getpid());
  fclose(pid);
  int files[kFiles];
  for (int i = 0; i < kFiles; ++i) files[i] = begin(kNames[i], i >= kFiles / 2);
  if (rank == 0) puts("writing");
  fflush(stdout);
  for (long long number = 0; number < steps; ++number) {
    for (int i = 0; i < kFiles; ++i) {
      const int independent = i >= kFiles / 2;
      step(files[i], independent, number);
      // A collective call has ended when it has on all ranks: one may write what another has brought.
      if (!independent) MPI_Barrier(MPI_COMM_WORLD);
      note(i, number + 1);
      if (number % 7 == 3 && i % 2 == 0) NC(ncmpi_sync(files[i]));
      if (number % kRedefine == 8) redefine(files[i], independent, number);
    }
  }
  for (int i = 0; i < kFiles; ++i) NC(ncmpi_close(files[i]));
}

static void check_file(int of, const char *path) {
  int ranks = 0, file = -1, x = -1;
  MPI_Offset width, steps, time;
  long long done[kMostRanks] = {0};
  CHECK(pread(noted, done, sizeof done, (off_t)(of * (int)sizeof done)) >= 0);
  NC(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  NC(ncmpi_inq_varid(file, "records", &records));
  NC(ncmpi_inq_varid(file, "latest", &latest));
  NC(ncmpi_inq_dimid(file, "x", &x));
  NC(ncmpi_inq_dimlen(file, x, &width));
  NC(ncmpi_inq_dimid(file, "time", &x));
  NC(ncmpi_inq_dimlen(file, x, &time));
  ranks = (int)(width / kEach);
  steps = 0;
  int *values = malloc(sizeof(int) * (size_t)width);
  for (long long number = 0; number < time; ++number) {
    const MPI_Offset start[2] = {number, 0}, count[2] = {1, width};
    NC(ncmpi_get_vara_int_all(file, records, start, count, values));
    for (int i = 0; i < width; ++i) {
      if (number < done[i / kEach] || values[i] != 0) SAME(values[i], value(number, i), "records", number * width + i);
    }
  }
  NC(ncmpi_get_var_int_all(file, latest, values));
  for (int r = 0; r < ranks; ++r) {
    if (done[r] > steps) steps = done[r];
    // All of a rank's part is of the last step that was noted, or of the one under way.
    const int next = done[r] == 0 ? values[r * kEach] != 0 : values[r * kEach] == value(done[r], r * kEach);
    for (int i = r * kEach; i < (r + 1) * kEach; ++i) {
      const long long of_step = done[r] - 1 + next;
      SAME(values[i], of_step < 0 ? 0 : value(of_step, i), "latest", i);
    }
  }
  CHECK(time >= steps);
  free(values);
  NC(ncmpi_close(file));
  printf("%s: %lld of %lld steps\n", kNames[of], (long long)steps, (long long)time);
}

int main(int argc, char **argv) {
  CHECK(argc >= 4);
  start(&argc, &argv);
  if (strcmp(argv[1], "write") == 0) {
    write_all(argv[2], atoll(argv[3]));
    return finish();
  }
  noted = open(argv[2], O_RDONLY);
  CHECK(noted >= 0);
  for (int i = 3; i + 1 < argc; i += 2) {
    for (int of = 0; of < kFiles; ++of) {
      if (strcmp(kNames[of], argv[i]) == 0) check_file(of, argv[i + 1]);
    }
  }
  return finish();
}
