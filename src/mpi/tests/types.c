// Derived datatypes: every constructor, questions about them, packing, and messages made of them.
#include <stddef.h>

#include "check.h"

struct Particle {
  double position[3];
  int id;
  char kind;
};

static int combiner(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int kind = 0;
  MPI(MPI_Type_get_envelope(type, &integers, &addresses, &types, &kind));
  if (kind != MPI_COMBINER_NAMED) {
    int *i = malloc(sizeof(int) * (size_t)(integers + 1));
    MPI_Aint *a = malloc(sizeof(MPI_Aint) * (size_t)(addresses + 1));
    MPI_Datatype *t = malloc(sizeof(MPI_Datatype) * (size_t)(types + 1));
    MPI(MPI_Type_get_contents(type, integers, addresses, types, i, a, t));
    for (int k = 0; k < types; ++k) {
      int inner_integers = 0;
      int inner_addresses = 0;
      int inner_types = 0;
      int inner = 0;
      MPI(MPI_Type_get_envelope(t[k], &inner_integers, &inner_addresses, &inner_types, &inner));
      if (inner != MPI_COMBINER_NAMED) MPI(MPI_Type_free(&t[k]));
    }
    free(i);
    free(a);
    free(t);
  }
  return kind;
}

// Sends one of `type` around the ring and checks that exactly its bytes arrived.
static void ring(MPI_Datatype type, size_t bytes) {
  char *out = malloc(bytes);
  char *in = malloc(bytes);
  int packed = 0;
  for (size_t i = 0; i < bytes; ++i) {
    out[i] = (char)(rank + (int)i);
    in[i] = 0;
  }
  MPI(MPI_Sendrecv(out, 1, type, right(), 0, in, 1, type, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MPI(MPI_Type_size(type, &packed));
  int same = 0;
  for (size_t i = 0; i < bytes; ++i) same += in[i] == (char)(left() + (int)i);
  CHECK(same >= packed);
  free(out);
  free(in);
}

static MPI_Datatype committed(MPI_Datatype type) {
  MPI(MPI_Type_commit(&type));
  return type;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  MPI_Datatype t;
  MPI_Datatype u;
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  MPI_Count big = 0;
  MPI_Count big_low = 0;
  int bytes = 0;
  const int lengths[3] = {3, 1, 2};
  const int places[3] = {0, 5, 9};
  const MPI_Aint byte_places[3] = {0, 40, 64};
  MPI(MPI_Type_contiguous(4, MPI_INT, &t));
  t = committed(t);
  CHECK(combiner(t) == MPI_COMBINER_CONTIGUOUS);
  ring(t, 16);
  MPI(MPI_Type_dup(t, &u));
  CHECK(combiner(u) == MPI_COMBINER_DUP);
  MPI(MPI_Type_free(&t));
  MPI(MPI_Type_size(u, &bytes));
  CHECK(bytes == 16);
  MPI(MPI_Type_vector(3, 2, -4, u, &t));
  MPI(MPI_Type_get_extent(t, &low, &extent));
  CHECK(low < 0);
  MPI(MPI_Type_get_true_extent(t, &low, &extent));
  MPI(MPI_Type_get_extent_x(t, &big_low, &big));
  MPI(MPI_Type_get_true_extent_x(t, &big_low, &big));
  MPI(MPI_Type_size_x(t, &big));
  CHECK(big == 96);
  CHECK(combiner(t) == MPI_COMBINER_VECTOR);
  MPI(MPI_Type_free(&t));
  MPI(MPI_Type_free(&u));
  MPI(MPI_Type_create_hvector(3, 1, 20, MPI_DOUBLE, &t));
  t = committed(t);
  ring(t, 48);
  CHECK(combiner(t) == MPI_COMBINER_HVECTOR);
  MPI(MPI_Type_free(&t));
  MPI(MPI_Type_indexed(3, lengths, places, MPI_INT, &t));
  t = committed(t);
  ring(t, 44);
  CHECK(combiner(t) == MPI_COMBINER_INDEXED);
  MPI(MPI_Type_free(&t));
  MPI(MPI_Type_create_hindexed(3, lengths, byte_places, MPI_INT, &t));
  CHECK(combiner(t) == MPI_COMBINER_HINDEXED);
  MPI(MPI_Type_free(&t));
  MPI(MPI_Type_create_indexed_block(3, 2, places, MPI_SHORT, &t));
  CHECK(combiner(t) == MPI_COMBINER_INDEXED_BLOCK);
  MPI(MPI_Type_free(&t));
  MPI(MPI_Type_create_hindexed_block(3, 2, byte_places, MPI_SHORT, &t));
  CHECK(combiner(t) == MPI_COMBINER_HINDEXED_BLOCK);
  MPI(MPI_Type_free(&t));

  // A struct by offsets, and one by absolute addresses with MPI_BOTTOM.
  struct Particle p = {{1.0 + rank, 2.0, 3.0}, rank, 'a'};
  struct Particle q = {{0, 0, 0}, -1, 0};
  const MPI_Datatype fields[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
  const int field_lengths[3] = {3, 1, 1};
  const MPI_Aint offsets[3] = {offsetof(struct Particle, position), offsetof(struct Particle, id),
                               offsetof(struct Particle, kind)};
  MPI(MPI_Type_create_struct(3, field_lengths, offsets, fields, &u));
  MPI(MPI_Type_create_resized(u, 0, sizeof p, &t));
  t = committed(t);
  CHECK(combiner(t) == MPI_COMBINER_RESIZED && combiner(u) == MPI_COMBINER_STRUCT);
  MPI(MPI_Sendrecv(&p, 1, t, right(), 0, &q, 1, t, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(q.id == left() && q.kind == 'a' && q.position[0] == 1.0 + left());
  MPI(MPI_Type_free(&t));
  MPI(MPI_Type_free(&u));
  MPI_Aint addresses[3];
  MPI(MPI_Get_address(&q.position, &addresses[0]));
  MPI(MPI_Get_address(&q.id, &addresses[1]));
  MPI(MPI_Get_address(&q.kind, &addresses[2]));
  CHECK(MPI_Aint_diff(addresses[1], addresses[0]) == (MPI_Aint)(offsetof(struct Particle, id)));
  CHECK(MPI_Aint_add(addresses[0], offsetof(struct Particle, kind)) == addresses[2]);
  MPI(MPI_Type_create_struct(3, field_lengths, addresses, fields, &t));
  t = committed(t);
  p.id = rank + 50;
  MPI_Datatype by_offset;
  MPI(MPI_Type_create_struct(3, field_lengths, offsets, fields, &by_offset));
  by_offset = committed(by_offset);
  MPI(MPI_Sendrecv(&p, 1, by_offset, right(), 0, MPI_BOTTOM, 1, t, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(q.id == left() + 50);
  MPI(MPI_Type_free(&by_offset));
  MPI(MPI_Type_free(&t));

  const int sizes[2] = {8, 6};
  const int subsizes[2] = {3, 2};
  const int starts[2] = {2, 1};
  MPI(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t));
  t = committed(t);
  ring(t, 8 * 6 * sizeof(int));
  CHECK(combiner(t) == MPI_COMBINER_SUBARRAY);
  MPI(MPI_Type_free(&t));
  const int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
  const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  const int processes[2] = {size, 1};
  const int array[2] = {4 * size, 5};
  MPI(MPI_Type_create_darray(size, rank, 2, array, distributions, arguments, processes, MPI_ORDER_FORTRAN, MPI_DOUBLE,
                             &t));
  MPI(MPI_Type_size(t, &bytes));
  CHECK(bytes == 4 * 5 * 8 && combiner(t) == MPI_COMBINER_DARRAY);
  MPI(MPI_Type_free(&t));
  MPI(MPI_Type_create_f90_integer(9, &t));
  CHECK(combiner(t) == MPI_COMBINER_F90_INTEGER);
  MPI(MPI_Type_create_f90_real(15, 300, &t));
  MPI(MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &t));
  MPI(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t));
  MPI(MPI_Type_size(t, &bytes));
  CHECK(bytes == 8);

  // Packing.
  char room[256];
  int position = 0;
  int need = 0;
  int number = rank;
  double real = rank + 0.5;
  MPI(MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &need));
  CHECK(need >= 8);
  MPI(MPI_Pack(&number, 1, MPI_INT, room, sizeof room, &position, MPI_COMM_WORLD));
  MPI(MPI_Pack(&real, 1, MPI_DOUBLE, room, sizeof room, &position, MPI_COMM_WORLD));
  char from[256];
  MPI_Status status;
  MPI(MPI_Sendrecv(room, position, MPI_PACKED, right(), 0, from, sizeof from, MPI_PACKED, left(), 0, MPI_COMM_WORLD,
                   &status));
  MPI(MPI_Get_count(&status, MPI_PACKED, &bytes));
  CHECK(bytes == position);
  position = 0;
  MPI(MPI_Unpack(from, bytes, &position, &number, 1, MPI_INT, MPI_COMM_WORLD));
  MPI(MPI_Unpack(from, bytes, &position, &real, 1, MPI_DOUBLE, MPI_COMM_WORLD));
  CHECK(number == left() && real == left() + 0.5);
  MPI_Aint external = 0;
  MPI_Aint external_size = 0;
  MPI(MPI_Pack_external_size("external32", 2, MPI_INT, &external_size));
  CHECK(external_size == 8);
  const int pair[2] = {1, 2};
  int unpacked[2] = {0, 0};
  MPI(MPI_Pack_external("external32", pair, 2, MPI_INT, room, sizeof room, &external));
  CHECK(external == 8 && room[3] == 1 && room[7] == 2);
  external = 0;
  MPI(MPI_Unpack_external("external32", room, 8, &external, unpacked, 2, MPI_INT));
  CHECK(unpacked[1] == 2);

  // Counts that don't divide.
  MPI(MPI_Type_contiguous(3, MPI_INT, &t));
  t = committed(t);
  const int five[5] = {1, 2, 3, 4, 5};
  int six[6];
  MPI(MPI_Sendrecv(five, 5, MPI_INT, right(), 1, six, 2, t, left(), 1, MPI_COMM_WORLD, &status));
  MPI(MPI_Get_count(&status, t, &bytes));
  CHECK(bytes == MPI_UNDEFINED);
  MPI(MPI_Get_elements(&status, t, &bytes));
  CHECK(bytes == 5);
  MPI(MPI_Get_elements_x(&status, t, &big));
  CHECK(big == 5);
  MPI(MPI_Status_set_elements(&status, MPI_INT, 3));
  MPI(MPI_Status_set_elements_x(&status, MPI_INT, 4));
  MPI(MPI_Status_set_cancelled(&status, 0));
  MPI(MPI_Get_count(&status, MPI_INT, &bytes));
  CHECK(bytes == 4);
  MPI(MPI_Type_free(&t));
  CHECK(t == MPI_DATATYPE_NULL);
  return finish();
}
