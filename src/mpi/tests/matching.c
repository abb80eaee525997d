// Messages of every kind in an order that chance decides, each of which carries who sent it, and with which of its
// calls. Each rank counts its own calls as they stand in a trace, and writes for each message that it received "message
// FROM CALL TO CALL" into its file said.RANK; matching.py holds that against what the trace says. And a line "met RANK
// CALL COUNT" for each collective call that waited for COUNT others, itself among them.
//
// With a word: some wildcards without a status.
#include "check.h"

static FILE *said;
static long calls = 0;  // made so far
static int nameless;    // rounds without statuses

#define CALL(call) \
  do {             \
    MPI(call);     \
    ++calls;       \
  } while (0)

enum { kMost = 64, kRounds = 60, kComms = 4, kTags = 3 };

typedef struct {
  int from;
  long call;
} Content;

static void got(const Content *content) {
  fprintf(said, "message %d %ld %d %ld\n", content->from, content->call, rank, calls - 1);
}
static void met(int count) { fprintf(said, "met %d %ld %d\n", rank, calls - 1, count); }

// The same on all ranks; and one that each has for itself.
static unsigned long common = 1, own;
static int below(unsigned long *state, int limit) {
  *state = *state * 6364136223846793005ul + 1442695040888963407ul;
  return (int)((*state >> 33) % (unsigned long)limit);
}

typedef struct {
  int from, to, tag;
} Message;

// How a rank receives in a round.
enum { kExact, kAnySource, kAnyTag, kProbe, kBlocking, kBlockingAny, kPersistent, kWays };

static void shuffle(int *places, int count) {
  for (int i = count - 1; i > 0; --i) {
    const int j = below(&own, i + 1), kept = places[i];
    places[i] = places[j];
    places[j] = kept;
  }
}

// Completes all, one or several at a time, and says what came.
static void complete(MPI_Request *requests, int count, const Content *contents, int from_status) {
  int left = count, outcount, indices[kMost], flag;
  MPI_Status statuses[kMost];
  MPI_Status *const ignore = MPI_STATUSES_IGNORE;
  while (left > 0) {
    switch (below(&own, 6)) {
      case 0:
        CALL(MPI_Waitany(count, requests, indices, from_status ? statuses : MPI_STATUS_IGNORE));
        got(&contents[indices[0]]);
        --left;
        break;
      case 1:
        CALL(MPI_Waitsome(count, requests, &outcount, indices, from_status ? statuses : ignore));
        for (int i = 0; i < outcount; ++i) got(&contents[indices[i]]);
        left -= outcount;
        break;
      case 2:
        CALL(MPI_Testsome(count, requests, &outcount, indices, from_status ? statuses : ignore));
        for (int i = 0; i < outcount; ++i) got(&contents[indices[i]]);
        left -= outcount > 0 ? outcount : 0;
        break;
      case 3:
        CALL(MPI_Testany(count, requests, indices, &flag, from_status ? statuses : MPI_STATUS_IGNORE));
        if (flag) got(&contents[indices[0]]);
        left -= flag ? 1 : 0;
        break;
      case 4: {
        int last = count - 1;
        while (requests[last] == MPI_REQUEST_NULL) --last;
        CALL(MPI_Wait(&requests[last], from_status ? statuses : MPI_STATUS_IGNORE));
        got(&contents[last]);
        --left;
        break;
      }
      default:
        if (below(&own, 3) != 0) break;
        int open[kMost];
        for (int i = 0; i < count; ++i) open[i] = requests[i] != MPI_REQUEST_NULL;
        CALL(MPI_Waitall(count, requests, from_status ? statuses : ignore));
        for (int i = 0; i < count; ++i) {
          if (open[i]) got(&contents[i]);
        }
        left = 0;
    }
  }
}

static void round_of(MPI_Comm comm) {
  int members, me;
  CALL(MPI_Comm_size(comm, &members));
  CALL(MPI_Comm_rank(comm, &me));
  Message all[kMost];
  const int count = 1 + below(&common, kMost - 1);
  int ways[kMost];
  for (int i = 0; i < members; ++i) ways[i] = below(&common, kWays);
  for (int i = 0; i < count; ++i) {
    all[i].from = below(&common, members);
    all[i].to = below(&common, members);
    all[i].tag = below(&common, kTags);
  }
  const int way = ways[me];
  const int from_status = way == kExact || !nameless;
  int incoming[kMost], expected = 0;
  for (int i = 0; i < count; ++i) {
    if (all[i].to == me) incoming[expected++] = i;
  }
  shuffle(incoming, expected);

  static Content contents[kMost], sent[kMost];
  MPI_Request receives[kMost], sends[kMost];
  const int nonblocking = way == kExact || way == kAnySource || way == kAnyTag;
  for (int i = 0; i < expected && nonblocking; ++i) {
    const Message *message = &all[incoming[i]];
    CALL(MPI_Irecv(&contents[i], sizeof(Content), MPI_BYTE, way == kAnySource ? MPI_ANY_SOURCE : message->from,
                   way == kExact ? message->tag : MPI_ANY_TAG, comm, &receives[i]));
  }
  for (int i = 0; i < expected && way == kPersistent; ++i) {
    const Message *message = &all[incoming[i]];
    CALL(MPI_Recv_init(&contents[i], sizeof(Content), MPI_BYTE, message->from, message->tag, comm, &receives[i]));
  }
  if (way == kPersistent && expected > 0) CALL(MPI_Startall(expected, receives));

  int outgoing = 0;
  for (int i = 0; i < count; ++i) {
    if (all[i].from != me) continue;
    Content *content = &sent[outgoing];
    const int size = sizeof(Content);
    content->from = rank;
    content->call = calls;
    switch (below(&own, 4)) {
      case 0:
        CALL(MPI_Issend(content, size, MPI_BYTE, all[i].to, all[i].tag, comm, &sends[outgoing]));
        break;
      case 1:
        content->call = calls + 1;
        CALL(MPI_Send_init(content, size, MPI_BYTE, all[i].to, all[i].tag, comm, &sends[outgoing]));
        CALL(MPI_Start(&sends[outgoing]));
        break;
      default:
        CALL(MPI_Isend(content, size, MPI_BYTE, all[i].to, all[i].tag, comm, &sends[outgoing]));
    }
    ++outgoing;
  }

  for (int i = 0; i < expected && !nonblocking; ++i) {
    const Message *message = &all[incoming[i]];
    MPI_Message found;
    MPI_Status status;
    if (way == kProbe && below(&own, 2) == 0) {
      CALL(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &status));
      MPI_Request request;
      CALL(MPI_Imrecv(&contents[i], sizeof(Content), MPI_BYTE, &found, &request));
      CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
      got(&contents[i]);
    } else if (way == kProbe) {
      int flag = 0;
      while (!flag) CALL(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &found, MPI_STATUS_IGNORE));
      CALL(MPI_Mrecv(&contents[i], sizeof(Content), MPI_BYTE, &found, &status));
      got(&contents[i]);
    } else if (way == kBlocking) {
      CALL(MPI_Recv(&contents[i], sizeof(Content), MPI_BYTE, message->from, message->tag, comm, MPI_STATUS_IGNORE));
      got(&contents[i]);
    } else if (way == kBlockingAny) {
      CALL(MPI_Recv(&contents[i], sizeof(Content), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                    from_status ? &status : MPI_STATUS_IGNORE));
      got(&contents[i]);
    }
  }
  if (nonblocking) complete(receives, expected, contents, from_status);
  if (way == kPersistent) {
    for (int i = 0; i < expected; ++i) {
      int index;
      CALL(MPI_Waitany(expected, receives, &index, MPI_STATUS_IGNORE));
      got(&contents[index]);
    }
    for (int i = 0; i < expected; ++i) CALL(MPI_Request_free(&receives[i]));
  }
  if (outgoing > 0) CALL(MPI_Waitall(outgoing, sends, MPI_STATUSES_IGNORE));
  for (int i = 0; i < outgoing; ++i) {
    if (sends[i] != MPI_REQUEST_NULL) CALL(MPI_Request_free(&sends[i]));
  }
  // No message of the next round may come into this one.
  CALL(MPI_Barrier(comm));
  met(members);
}

static void around(MPI_Comm comm) {
  int members, me;
  CALL(MPI_Comm_size(comm, &members));
  CALL(MPI_Comm_rank(comm, &me));
  Content content = {rank, calls}, other;
  const int next = (me + 1) % members, last = (me + members - 1) % members;
  CALL(MPI_Sendrecv(&content, sizeof content, MPI_BYTE, next, 7, &other, sizeof other, MPI_BYTE, last, 7, comm,
                    MPI_STATUS_IGNORE));
  got(&other);
  content.call = calls;
  CALL(MPI_Sendrecv_replace(&content, sizeof content, MPI_BYTE, last, 8, next, 8, comm, MPI_STATUS_IGNORE));
  got(&content);
  // To nobody, and never received.
  CALL(MPI_Sendrecv(&content, sizeof content, MPI_BYTE, MPI_PROC_NULL, 9, &other, sizeof other, MPI_BYTE, MPI_PROC_NULL,
                    9, comm, MPI_STATUS_IGNORE));
  MPI_Request request;
  MPI_Status status;
  CALL(MPI_Irecv(&other, sizeof other, MPI_BYTE, last, 10, comm, &request));
  CALL(MPI_Cancel(&request));
  CALL(MPI_Wait(&request, &status));
}

#if MPI_VERSION >= 4
// What came is what the last of its partitions says.
static void got_last(const Content *parts, int count) {
  const Content *last = &parts[0];
  for (int i = 1; i < count; ++i) {
    if (parts[i].call > last->call) last = &parts[i];
  }
  got(last);
}
#endif

// Two operations of one tag whose messages come in partitions, started and made ready in an order that chance decides,
// and an ordinary message of that tag.
static void in_partitions(MPI_Comm comm) {
#if MPI_VERSION >= 4
  enum { kOperations = 2, kParts = 4, kTurns = 3, kTag = 11 };
  int members, me;
  CALL(MPI_Comm_size(comm, &members));
  CALL(MPI_Comm_rank(comm, &me));
  const int next = (me + 1) % members, last = (me + members - 1) % members, size = sizeof(Content);
  Content out[kOperations][kParts], in[kOperations][kParts], content, other;
  MPI_Request sends[kOperations], receives[kOperations];
  for (int i = 0; i < kOperations; ++i) {
    CALL(MPI_Psend_init(out[i], kParts, size, MPI_BYTE, next, kTag, comm, MPI_INFO_NULL, &sends[i]));
    CALL(MPI_Precv_init(in[i], kParts, size, MPI_BYTE, last, kTag, comm, MPI_INFO_NULL, &receives[i]));
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    const int first = below(&own, kOperations);
    CALL(MPI_Start(&sends[first]));
    CALL(MPI_Start(&sends[1 - first]));
    if (below(&own, 2) == 0) {
      CALL(MPI_Startall(kOperations, receives));
    } else {
      CALL(MPI_Start(&receives[1]));
      CALL(MPI_Start(&receives[0]));
    }
    const int sooner = below(&own, kOperations);
    for (int i = 0; i < kOperations; ++i) {
      const int which = i == 0 ? sooner : 1 - sooner;
      int places[kParts] = {0, 1, 2, 3};
      if (below(&own, 2) == 0) {
        for (int k = 0; k < kParts - 1; ++k) out[which][k] = (Content){rank, calls};
        CALL(MPI_Pready_range(0, kParts - 2, sends[which]));
        out[which][kParts - 1] = (Content){rank, calls};
        CALL(MPI_Pready(kParts - 1, sends[which]));
      } else {
        shuffle(places, kParts);
        out[which][places[0]] = (Content){rank, calls};
        CALL(MPI_Pready(places[0], sends[which]));
        for (int k = 1; k < kParts; ++k) out[which][places[k]] = (Content){rank, calls};
        CALL(MPI_Pready_list(kParts - 1, &places[1], sends[which]));
      }
      if (i != 0) continue;
      content = (Content){rank, calls};
      CALL(MPI_Sendrecv(&content, size, MPI_BYTE, next, kTag, &other, size, MPI_BYTE, last, kTag, comm,
                        MPI_STATUS_IGNORE));
      got(&other);
    }
    CALL(MPI_Wait(&receives[turn % 2], MPI_STATUS_IGNORE));
    got_last(in[turn % 2], kParts);
    CALL(MPI_Waitall(kOperations, receives, MPI_STATUSES_IGNORE));
    got_last(in[1 - turn % 2], kParts);
    CALL(MPI_Waitall(kOperations, sends, MPI_STATUSES_IGNORE));
  }
  for (int i = 0; i < kOperations; ++i) {
    CALL(MPI_Request_free(&sends[i]));
    CALL(MPI_Request_free(&receives[i]));
  }
#else
  (void)comm;
#endif
}

static void together(MPI_Comm comm, int which) {
  int members, me, sum, gathered[kMost], counts[kMost], places[kMost];
  CALL(MPI_Comm_size(comm, &members));
  CALL(MPI_Comm_rank(comm, &me));
  const int root = which % members;
  CALL(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
  met(members);
  CALL(MPI_Bcast(&sum, 1, MPI_INT, root, comm));
  if (me != root) met(1);
  CALL(MPI_Bcast(&sum, 0, MPI_INT, root, comm));
  CALL(MPI_Gather(&me, 1, MPI_INT, gathered, 1, MPI_INT, root, comm));
  if (me == root) met(members);
  CALL(MPI_Scatter(gathered, 1, MPI_INT, &sum, 1, MPI_INT, root, comm));
  if (me != root) met(1);
  // Only from those before this one.
  int send[kMost], to[kMost], at[kMost];
  for (int i = 0; i < members; ++i) {
    send[i] = me;
    to[i] = i > me;
    at[i] = i;
    counts[i] = i < me;
    places[i] = i;
  }
  CALL(MPI_Alltoallv(send, to, at, MPI_INT, gathered, counts, places, MPI_INT, comm));
  if (me > 0) met(me);
  MPI_Request requests[2];
  CALL(MPI_Ireduce(&me, &sum, 1, MPI_INT, MPI_SUM, root, comm, &requests[0]));
  CALL(MPI_Ibarrier(comm, &requests[1]));
  CALL(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  met(members);
  CALL(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  if (me == root) met(members);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  calls = 3;
  char name[40];
  snprintf(name, sizeof name, "said.%d", rank);
  said = fopen(name, "w");
  own = 77 + (unsigned long)rank;
  MPI_Comm comms[kComms] = {MPI_COMM_WORLD};
  CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
  CALL(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]));
  CALL(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]));
  for (int i = 0; i < kRounds; ++i) {
    nameless = argc > 1 && i % 4 == 3;
    common = (unsigned long)i + 1;
    below(&common, 2);
    const MPI_Comm comm = comms[below(&common, kComms)];
    round_of(comm);
    common = (unsigned long)i + 1000;
    if (i % 7 == 0) around(comm);
    if (i % 9 == 0) in_partitions(comm);
    if (i % 5 == 0) together(comm, below(&common, 5));
    if (i % 10 == 9) {  // another of the same number
      CALL(MPI_Comm_free(&comms[3]));
      CALL(MPI_Comm_split(MPI_COMM_WORLD, (rank + i / 10) % 3 == 0, -rank, &comms[3]));
    }
  }
  fclose(said);
  return finish();
}
