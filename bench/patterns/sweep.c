// A transport sweep: from all four corners of a mesh at once, whatever arrives first goes on first.
//
//   sweep [STEPS [WORK]]
//
// The domain is cut into columns, one a rank, and each column into blocks (Koch, Baker and Alcouffe's decomposition of
// S_n transport). A sweep goes through a rank's blocks in order, and a block needs both faces that lie upstream. The
// eight slots of requests are two faces of four sweeps, asked by Testsome; sends are asked one by one by Test, until
// they are done. So what a rank calls next is what completed, on each rank and in each run in another order. WORK: how
// often a cell is computed for each block.
#include "pattern.h"

enum { kSweeps = 4, kFaces = 2, kSlots = kSweeps * kFaces, kBlocks = 8, kCells = 64, kSends = 32 };

static MPI_Comm mesh;
static int place[2], dims[2];
static long work;

static int upstream[kSweeps][kFaces], downstream[kSweeps][kFaces];
static MPI_Request slot[kSlots];
static int in[kSlots][kCells];
static int next[kSweeps];             // the block that a sweep computes next
static int arrived[kSweeps][kFaces];  // its faces that are there
static MPI_Request sending[kSends];
static int out[kSends][kCells];
static double cell[kCells];

/// How far a rank lies from the corner that a sweep comes from, along one side.
static int distance(int sweep, int d) { return (sweep >> d & 1) != 0 ? dims[d] - 1 - place[d] : place[d]; }

static int tag_of(int sweep, int block, int d) { return (sweep * kBlocks + block) * kFaces + d; }

static void post(int sweep, int d) {
  arrived[sweep][d] = upstream[sweep][d] == MPI_PROC_NULL;
  if (arrived[sweep][d]) return;
  const int at = sweep * kFaces + d;
  MPI(MPI_Irecv(in[at], kCells, MPI_INT, upstream[sweep][d], tag_of(sweep, next[sweep], d), mesh, &slot[at]));
}

/// Asks each send that is under way.
static void ask_sends(void) {
  for (int k = 0; k < kSends; ++k) {
    int complete = 0;
    if (sending[k] != MPI_REQUEST_NULL) MPI(MPI_Test(&sending[k], &complete, MPI_STATUS_IGNORE));
  }
}

static void pass_on(int sweep, int d, int block, long step) {
  if (downstream[sweep][d] == MPI_PROC_NULL) return;
  int k = 0;
  for (; sending[k] != MPI_REQUEST_NULL; k = (k + 1) % kSends)
    if (k == kSends - 1) ask_sends();
  for (int i = 0; i < kCells; ++i) out[k][i] = distance(sweep, 0) + distance(sweep, 1) + 1;
  out[k][0] = block + (int)(step % 1000) * kBlocks;
  MPI(MPI_Isend(out[k], kCells, MPI_INT, downstream[sweep][d], tag_of(sweep, block, d), mesh, &sending[k]));
}

static void compute(int sweep, long step) {
  const int block = next[sweep]++;
  for (int d = 0; d < kFaces; ++d) {
    if (upstream[sweep][d] == MPI_PROC_NULL) continue;
    const int *face = in[sweep * kFaces + d];
    CHECK(face[0] == block + (int)(step % 1000) * kBlocks);
    CHECK(face[kCells - 1] == distance(sweep, 0) + distance(sweep, 1));
  }
  for (long turn = 0; turn < work; ++turn)
    for (int i = 0; i < kCells; ++i) cell[i] = cell[i] * 0.5 + cell[(i + 1) % kCells] * 0.25 + block;
  for (int d = 0; d < kFaces; ++d) {
    if (next[sweep] < kBlocks) post(sweep, d);
    pass_on(sweep, d, block, step);
  }
}

static void step_once(long step) {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    next[sweep] = 0;
    for (int d = 0; d < kFaces; ++d) post(sweep, d);
  }
  for (int left = kSweeps * kBlocks; left > 0;) {
    int count = 0, which[kSlots];
    MPI(MPI_Testsome(kSlots, slot, &count, which, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; ++i)
      arrived[which[i] / kFaces][which[i] % kFaces] = 1;  // none: MPI_UNDEFINED is below 0
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      if (next[sweep] == kBlocks || !arrived[sweep][0] || !arrived[sweep][1]) continue;
      compute(sweep, step);
      --left;
    }
    ask_sends();
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 50);
  work = number(argc, argv, 2, 1);
  const int periods[2] = {0, 0};
  MPI(MPI_Dims_create(size, 2, dims));
  MPI(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &mesh));
  MPI(MPI_Comm_rank(mesh, &rank));
  MPI(MPI_Cart_coords(mesh, rank, 2, place));
  for (int d = 0; d < kFaces; ++d) {
    int low = 0, high = 0;
    MPI(MPI_Cart_shift(mesh, d, 1, &low, &high));
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      upstream[sweep][d] = (sweep >> d & 1) != 0 ? high : low;
      downstream[sweep][d] = (sweep >> d & 1) != 0 ? low : high;
    }
  }
  for (int k = 0; k < kSlots; ++k) slot[k] = MPI_REQUEST_NULL;
  for (int k = 0; k < kSends; ++k) sending[k] = MPI_REQUEST_NULL;
  for (long i = 0; i < steps; ++i) {
    step_once(i);
    double mine = cell[0], all = 0;
    if (i % 10 == 9) MPI(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, mesh));
    CHECK(all >= 0);
  }
  MPI(MPI_Waitall(kSends, sending, MPI_STATUSES_IGNORE));
  MPI(MPI_Comm_free(&mesh));
  return done("sweep", steps);
}
