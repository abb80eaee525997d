// What the pattern programs share. Each is one well-known communication pattern, small enough to read at once; it
// verifies what it receives, aborts when that is wrong, and prints one line, the same in every run. They are recorded
// by the tests (src/mpi/tests/CMakeLists.txt), which compare every field, and by bench/compression.py, which measures
// traces.
#pragma once

#include "../../src/mpi/tests/check.h"

/// A number from the command line.
static inline long number(int argc, char **argv, int at, long otherwise) {
  return at < argc ? strtol(argv[at], NULL, 10) : otherwise;
}

/// Whether a word stands on the command line.
static inline int said(int argc, char **argv, const char *word) {
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], word) == 0) return 1;
  return 0;
}

/// The next value of a generator that is the same on every machine (Steele and Vigna's SplitMix64).
static inline unsigned long long draw(unsigned long long *state) {
  unsigned long long z = (*state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// What rank `from` sends to rank `to` in some step: a byte, never 0.
static inline unsigned char stamp(long from, long to, long step) {
  return (unsigned char)(1 + (from * 31 + to * 17 + step * 7) % 251);
}

/// Stamps a block at both ends and in the middle: cheap beside sending it, and a wrong or missing block is found.
static inline void mark(void *block, long bytes, unsigned char value) {
  unsigned char *at = block;
  if (bytes > 0) at[0] = at[bytes / 2] = at[bytes - 1] = value;
}

static inline void expect(const void *block, long bytes, unsigned char value) {
  const unsigned char *at = block;
  if (bytes > 0) CHECK(at[0] == value && at[bytes / 2] == value && at[bytes - 1] == value);
}

/// Memory that lives until the program ends.
static inline void *room(size_t bytes) {
  void *memory = calloc(bytes ? bytes : 1, 1);
  CHECK(memory != NULL);
  return memory;
}

/// Ends the program with its line.
static inline int done(const char *what, long steps) {
  if (rank == 0) printf("%s: %d ranks, %ld steps: ok\n", what, size, steps);
  fflush(stdout);
  MPI(MPI_Finalize());
  return 0;
}

/// Peak resident memory of this process; also after MPI_Finalize.
static inline long peak_kib(void) {
  char line[256];
  long kib = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (strncmp(line, "VmHWM:", 6) == 0) kib = strtol(line + 6, NULL, 10);
  if (status) fclose(status);
  return kib;
}
