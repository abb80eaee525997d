// Calls whose times take much more room than the calls themselves: rank r polls r x 1000 + CALLS times in vain.
//
// usage: times CALLS [limit|stranger|memory [RANK]]
// limit: before MPI_Finalize, RANK (1) may no longer make files grow. stranger: until after that it is nobody, who may
// not open what others made (needs root). memory: in the end RANK says on stderr how much it ever had.
#define _GNU_SOURCE
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

static void say_memory(void) {
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "VmHWM", 5) == 0) fputs(line, stderr);
  }
  if (file != NULL) fclose(file);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *mode = argc > 2 ? argv[2] : "";
  const int odd = argc > 3 ? atoi(argv[3]) : 1;
  const int calls = (argc > 1 ? atoi(argv[1]) : 1000) + rank * 1000;
  for (int i = 0; i < calls; ++i) {
    int flag = 1;
    MPI(MPI_Iprobe(left(), 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
  }
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == odd && strcmp(mode, "limit") == 0) {
    const struct rlimit limit = {60000, 60000};  // room for this trace, not for more
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  if (rank == odd && strcmp(mode, "stranger") == 0) CHECK(seteuid(65534) == 0);
  const int status = finish();
  if (rank == odd && strcmp(mode, "stranger") == 0) CHECK(seteuid(0) == 0);
  int finalized = 0;
  MPI_Finalized(&finalized);  // a segment of its own in the trace
  if (rank == odd && strcmp(mode, "memory") == 0) say_memory();
  return finalized ? status : 1;
}
