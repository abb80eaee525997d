/* A program that has not all ranks of the recording: which rank of a communicator is which among those that stay. */
#include <string.h>

#include "proxy.h"

int kept_rank(long long of, long long recorded) {
  const struct members *members = members_of(of);
  if (recorded < 0 || recorded >= members->count) return (int)recorded;
  return members->now[recorded] < 0 ? MPI_PROC_NULL : members->now[recorded];
}

int is_kept(long long of, long long recorded) {
  const struct members *members = members_of(of);
  return recorded < 0 || recorded >= members->count || members->now[recorded] >= 0;
}

anything kept_array(long long of, const void *array, size_t bytes) {
  enum { kArrays = 256 }; /* MPI may read one until the call is done */
  static _Thread_local char *all[kArrays];
  static _Thread_local int oldest;
  const struct members *members = members_of(of);
  char **made = &all[oldest++ % kArrays];
  free(*made);
  *made = (char *)calloc((size_t)members->count + 1, bytes);
  if (*made == NULL) abort();
  char *to = *made;
  for (int i = 0; i < members->count; ++i) {
    if (members->now[i] < 0) continue;
    memcpy(to, (const char *)array + (size_t)i * bytes, bytes);
    to += bytes;
  }
  return ANYTHING((void *)*made);
}
