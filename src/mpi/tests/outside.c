// Calls before MPI_Init and after MPI_Finalize, and small questions in between.
#include "check.h"

/// Mappings of a gigabyte or more. What the recorder took to write the trace is given back.
static int large_mappings(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return 0;
  int count = 0;
  char line[1024];
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && end - begin >= 1UL << 30) ++count;
  }
  fclose(maps);
  return count;
}

int main(int argc, char **argv) {
  int flag = -1;
  int version = 0;
  int subversion = 0;
  int length = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&flag);
  if (flag) return 1;
  MPI_Finalized(&flag);
  if (flag) return 1;
  MPI_Get_version(&version, &subversion);
  if (version < 3) return 1;
  MPI_Get_library_version(text, &length);
  if (length < (int)strlen(text)) return 1;  // Open MPI counts the NUL
  start(NULL, NULL);
  (void)argc, (void)argv;
  MPI(MPI_Initialized(&flag));
  CHECK(flag);
  double begin = MPI_Wtime();
  CHECK(MPI_Wtick() > 0 && MPI_Wtime() >= begin);
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI(MPI_Get_processor_name(name, &length));
  CHECK(length == (int)strlen(name));
  MPI(MPI_Pcontrol(1));
  MPI(MPI_Pcontrol(2, "ignored"));
  const MPI_Fint fortran = MPI_Comm_c2f(MPI_COMM_WORLD);
  CHECK(MPI_Comm_f2c(fortran) == MPI_COMM_WORLD);
  CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
  const int large = large_mappings();
  const int code = finish();
  if (large_mappings() > large) {
    fprintf(stderr, "MPI_Finalize left memory behind\n");
    return 1;
  }
  MPI_Finalized(&flag);
  if (!flag) return 1;
  MPI_Initialized(&flag);
  if (!flag) return 1;
  MPI_Get_version(&version, &subversion);
  return code;
}
