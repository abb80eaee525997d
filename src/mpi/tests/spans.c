// Datatypes by every constructor, at random and of each other, and what MPI says of their sizes and bounds: spans.py
// holds what `cairn dump --objects` says of them against it.
//
//     spans SEED
#include "check.h"

enum { kKept = 12, kMade = 400 };

static unsigned state;

static int below(int most) {
  state = state * 1103515245U + 12345U;
  return (int)((state >> 16 & 0x7fffU) % (unsigned)most);
}

static const MPI_Datatype kBasic[] = {MPI_INT,        MPI_CHAR,      MPI_DOUBLE, MPI_SHORT,
                                      MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_2INT,   MPI_LONG_DOUBLE,
                                      MPI_FLOAT_INT,  MPI_LONG_INT,  MPI_C_BOOL, MPI_C_DOUBLE_COMPLEX,
                                      MPI_BYTE,       MPI_INT64_T,   MPI_FLOAT,  MPI_UNSIGNED_SHORT};

static MPI_Datatype kept[kKept];

static MPI_Datatype any(void) {
  const int which = below(2 * kKept);
  if (which < kKept && kept[which] != MPI_DATATYPE_NULL) return kept[which];
  return kBasic[below((int)(sizeof kBasic / sizeof kBasic[0]))];
}

static MPI_Datatype one(void) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Datatype of = any();
  int lengths[3], places[3], sides[3], starts[3], kinds[3], blocks[3], grid[3];
  MPI_Aint far[3];
  MPI_Datatype types[3];
  const int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  for (int i = 0; i < 3; ++i) {
    lengths[i] = below(4);
    places[i] = below(12) - 4;
    far[i] = 16 * (below(24) - 8);  // so that all elements are aligned
    types[i] = any();
    sides[i] = 1 + below(5);
    starts[i] = below(sides[i]);
    const int kind = below(3);
    kinds[i] = kind == 0 ? MPI_DISTRIBUTE_BLOCK : kind == 1 ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_NONE;
    blocks[i] = kind == 1 && below(2) ? 1 + below(3) : MPI_DISTRIBUTE_DFLT_DARG;
    grid[i] = kind == 2 ? 1 : 1 + below(3);
  }
  int counts[3];
  for (int i = 0; i < 3; ++i) counts[i] = 1 + below(sides[i] - starts[i]);
  switch (below(12)) {
    case 0:
      MPI(MPI_Type_contiguous(1 + below(3), of, &made));
      break;
    case 1:
      // Turns that lie over each other Open MPI 4.1 does not count right where they are bytes.
      MPI(MPI_Type_vector(1 + below(3), 1 + lengths[0], (below(2) ? 1 : -1) * (1 + lengths[0] + below(4)), of, &made));
      break;
    case 2:
      MPI(MPI_Type_create_hvector(1 + below(3), 1 + below(2), far[0], of, &made));
      break;
    case 3:
      MPI(MPI_Type_indexed(3, lengths, places, of, &made));
      break;
    case 4:
      MPI(MPI_Type_create_hindexed(3, lengths, far, of, &made));
      break;
    case 5:
      MPI(MPI_Type_create_indexed_block(3, 1 + below(2), places, of, &made));
      break;
    case 6:
      MPI(MPI_Type_create_hindexed_block(2, 1 + below(2), far, of, &made));
      break;
    case 7:
      MPI(MPI_Type_create_struct(3, lengths, far, types, &made));
      break;
    case 8:
      MPI(MPI_Type_create_subarray(1 + below(3), sides, counts, starts, order, of, &made));
      break;
    case 9: {
      const int processes = grid[0] * grid[1] * grid[2];
      const int of_whom = below(processes);
      // Open MPI 4.1 refuses some that it may not.
      if (MPI_Type_create_darray(processes, of_whom, 3, sides, kinds, blocks, grid, order, of, &made) != MPI_SUCCESS) {
        return MPI_DATATYPE_NULL;
      }
      break;
    }
    case 10:
      MPI(MPI_Type_create_resized(of, 16 * (below(4) - 1), 16 * (1 + below(8)), &made));
      break;
    default:
      MPI(MPI_Type_dup(of, &made));
  }
  return made;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(argc == 2);
  state = (unsigned)atoi(argv[1]) * 77U + (unsigned)rank;
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  for (int i = 0; i < kKept; ++i) kept[i] = MPI_DATATYPE_NULL;
  for (int i = 0; i < kMade; ++i) {
    MPI_Datatype made = one();
    MPI_Count size, lower, extent, true_lower, true_extent;
    if (made == MPI_DATATYPE_NULL) continue;
    MPI(MPI_Type_size_x(made, &size));
    MPI(MPI_Type_get_true_extent_x(made, &true_lower, &true_extent));
    MPI(MPI_Type_get_extent_x(made, &lower, &extent));
    const int place = below(kKept);
    // Those that are made of larger and larger ones end here, and so do those without bytes, of which libraries differ
    // in what they make of them.
    if (extent > 20000 || extent < -20000 || size > 20000 || size == 0) {
      MPI(MPI_Type_free(&made));
      continue;
    }
    if (kept[place] != MPI_DATATYPE_NULL) MPI(MPI_Type_free(&kept[place]));
    kept[place] = made;
  }
  for (int i = 0; i < kKept; ++i) {
    if (kept[i] != MPI_DATATYPE_NULL) MPI(MPI_Type_free(&kept[i]));
  }
  return finish();
}
