// A graph search by active messages: whoever finds a vertex of another rank tells it so, in messages of any length.
//
//   search [ROOTS [VERTICES]]
//
// Breadth first from several roots, through a graph of VERTICES a rank (256) that is the same in every run. Vertices
// that another rank owns are gathered for it and sent when there is room for no more, or at the end of a level. Slots
// for sends are found by Testany; messages are found by Iprobe and received where they are seen. A level ends with an
// empty message from each rank to each, and an allreduce of how many vertices were new. Which messages a rank has found
// when it sends its own differs from run to run; the levels do not, and are held against a search on one rank.
#include "pattern.h"

enum { kEdges = 6, kMost = 64, kSends = 8, kVertices = 1, kEndOfLevel = 2 };

static long vertices;  // of all ranks
static int *level;     // of each vertex of this rank; -1: not found
static long *frontier, *found;
static long found_count;
static MPI_Request sending[kSends];
static long sent[kSends][kMost];
static long (*gathered)[kMost];  // for each rank
static int *gathered_count;
static int ends;  // ranks that have ended this level

static long neighbour(long vertex, int k) {
  unsigned long long state = (unsigned long long)(vertex * kEdges + k);
  const unsigned long long drawn = draw(&state);
  // Half of the edges are short ones, which stay with the rank.
  const long distance = (drawn & 1) != 0 ? (long)(drawn >> 8) % 16 : (long)(drawn >> 8 & 0xffffff);
  return (vertex + distance) % vertices;
}

static int owner(long vertex) { return (int)(vertex / (vertices / size)); }

static void reach(long vertex, int at) {
  const long mine = vertex - rank * (vertices / size);
  if (level[mine] >= 0) return;
  level[mine] = at;
  found[found_count++] = vertex;
}

/// Takes in what has come.
static void take(int at) {
  for (;;) {
    int there = 0, count = 0;
    long vertex[kMost];
    MPI_Status status;
    MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status));
    if (!there) return;
    MPI(MPI_Recv(vertex, kMost, MPI_LONG, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status));
    MPI(MPI_Get_count(&status, MPI_LONG, &count));
    if (status.MPI_TAG == kEndOfLevel) ++ends;
    for (int i = 0; i < count; ++i) reach(vertex[i], at);
  }
}

static void flush(int to, int tag, int at) {
  int index = MPI_UNDEFINED, complete = 0;
  for (;;) {
    MPI(MPI_Testany(kSends, sending, &index, &complete, MPI_STATUS_IGNORE));
    for (int k = 0; index == MPI_UNDEFINED && k < kSends; ++k)
      if (sending[k] == MPI_REQUEST_NULL) index = k;
    if (index != MPI_UNDEFINED) break;
    take(at);
  }
  const int count = tag == kEndOfLevel ? 0 : gathered_count[to];
  memcpy(sent[index], gathered[to], sizeof(long) * (size_t)count);
  if (tag != kEndOfLevel) gathered_count[to] = 0;
  MPI(MPI_Isend(sent[index], count, MPI_LONG, to, tag, MPI_COMM_WORLD, &sending[index]));
}

static void visit(long vertex, int at) {
  for (int k = 0; k < kEdges; ++k) {
    const long other = neighbour(vertex, k);
    const int to = owner(other);
    if (to == rank) {
      reach(other, at);
      continue;
    }
    gathered[to][gathered_count[to]++] = other;
    if (gathered_count[to] == kMost) flush(to, kVertices, at);
  }
}

static int search_from(long root) {
  int deepest = 0;
  memset(level, -1, sizeof(int) * (size_t)(vertices / size));
  found_count = 0;
  if (owner(root) == rank) reach(root, 0);
  for (int at = 1;; ++at) {
    long *const now = found;
    const long count = found_count;
    found = frontier;
    frontier = now;
    found_count = 0;
    for (long i = 0; i < count; ++i) {
      visit(frontier[i], at);
      if (i % 8 == 7) take(at);
    }
    for (int to = 0; to < size; ++to) {
      if (gathered_count[to] > 0) flush(to, kVertices, at);
      if (to != rank) flush(to, kEndOfLevel, at);
    }
    while (ends < size - 1) take(at);
    ends = 0;
    long all = 0;
    MPI(MPI_Allreduce(&found_count, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (all == 0) return deepest;
    deepest = at;
  }
}

/// The same on this rank alone.
static void check(long root, int deepest) {
  int *const alone = room(sizeof(int) * (size_t)vertices);
  long *const queue = room(sizeof(long) * (size_t)vertices);
  long head = 0, tail = 0;
  memset(alone, -1, sizeof(int) * (size_t)vertices);
  alone[queue[tail++] = root] = 0;
  while (head < tail) {
    const long vertex = queue[head++];
    for (int k = 0; k < kEdges; ++k) {
      const long other = neighbour(vertex, k);
      if (alone[other] < 0) alone[queue[tail++] = other] = alone[vertex] + 1;
    }
  }
  CHECK(deepest == alone[queue[tail - 1]]);
  for (long i = 0; i < vertices / size; ++i) CHECK(level[i] == alone[rank * (vertices / size) + i]);
  free(queue);
  free(alone);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long roots = number(argc, argv, 1, 20), each = number(argc, argv, 2, 256);
  vertices = each * size;
  level = room(sizeof(int) * (size_t)each);
  frontier = room(sizeof(long) * (size_t)each);
  found = room(sizeof(long) * (size_t)each);
  gathered = room(sizeof(long[kMost]) * (size_t)size);
  gathered_count = room(sizeof(int) * (size_t)size);
  for (int k = 0; k < kSends; ++k) sending[k] = MPI_REQUEST_NULL;
  for (long i = 0; i < roots; ++i) {
    const long root = i * 7919 % vertices;
    const int deepest = search_from(root);
    if (i == roots - 1) check(root, deepest);
  }
  MPI(MPI_Waitall(kSends, sending, MPI_STATUSES_IGNORE));
  return done("search", roots);
}
