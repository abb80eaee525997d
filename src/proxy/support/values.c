/* Values that change along ranks or time: walks through rules, streams, columns, arrays made of fields. */
#include <stdio.h>
#include <string.h>

#include "proxy.h"

/* ---- a walk through a sequence, which recurses nowhere */

struct level {
  const struct term *term;
  long long left; /* how often it still has to begin */
};
struct walk {
  const struct term **rules;
  struct level *levels;
  int depth, room;
};

static void *grown(void *old, size_t bytes) {
  void *now = realloc(old, bytes);
  if (now == NULL) fprintf(stderr, "proxy: no memory\n"), abort();
  return now;
}

static void begin_walk(struct walk *walk, const struct term *order) {
  int last = 0, rules = 1;
  for (const struct term *term = order; last >= 0; ++term) {
    if (term->count != 0 && term->id < 0 && -term->id >= rules) rules = 1 - term->id;
    if (term->count == 0) last = last + 1 == rules ? -1 : last + 1;
  }
  walk->rules = (const struct term **)grown(NULL, (size_t)rules * sizeof *walk->rules);
  const struct term *at = order;
  for (int i = 0; i < rules; ++i, ++at) {
    walk->rules[i] = at;
    while (at->count != 0) ++at;
  }
  walk->levels = (struct level *)grown(NULL, 8 * sizeof *walk->levels);
  walk->room = 8;
  walk->depth = 1;
  walk->levels[0] = (struct level){order, order->count};
}

/* The next value's number; -1 at the end. */
static int next_in(struct walk *walk) {
  while (walk->depth > 0) {
    struct level *level = &walk->levels[walk->depth - 1];
    if (level->left == 0) {
      if (level->term->count == 0 || (++level->term)->count == 0) {
        --walk->depth;
        continue;
      }
      level->left = level->term->count;
    }
    --level->left;
    if (level->term->id >= 0) return level->term->id;
    if (walk->depth == walk->room) {
      walk->room *= 2;
      walk->levels = (struct level *)grown(walk->levels, (size_t)walk->room * sizeof *walk->levels);
      level = &walk->levels[walk->depth - 1];
    }
    const struct term *rule = walk->rules[-level->term->id];
    walk->levels[walk->depth++] = (struct level){rule, rule->count};
  }
  return -1;
}

static void end_walk(struct walk *walk) {
  free(walk->rules);
  free(walk->levels);
}

/* ---- streams */

struct stream {
  struct walk walk;
  int differences, stays, count, room;
  long long (*handles)(long long made);
  struct field *values;
  long long *sums; /* of differences */
  int width;
  void *arrays[64]; /* of the last sums: MPI may still read them */
  int oldest;
  struct field sum;
  struct field *current;
};

struct stream *open_stream(const struct term *order, int differences, int stays) {
  struct stream *stream = (struct stream *)calloc(1, sizeof *stream);
  if (stream == NULL) abort();
  if (order != NULL) begin_walk(&stream->walk, order);
  stream->differences = differences;
  stream->stays = stays;
  return stream;
}

struct stream *open_handles(const struct term *order, int differences, long long (*handles)(long long made)) {
  struct stream *stream = open_stream(order, differences, 0);
  stream->handles = handles;
  return stream;
}

/* Each second number says which call made a handle, but for a mark in front that an array is remembered. */
static void name_handles(const struct stream *of, long long *atoms, int count) {
  const int marked = count > 0 && atoms[0] > ATOM(A_REQUESTS) && atoms[0] < ATOM(A_REQUESTS + 16);
  if (marked && count == 2) return; /* a place */
  for (int i = marked; i + 1 < count; i += 2) {
    if (!IS_ATOM(atoms[i])) atoms[i] = of->handles(atoms[i]);
  }
}

static struct field *another(struct stream *of) {
  if (of->count == of->room) {
    of->room = of->room == 0 ? 4 : 2 * of->room;
    of->values = (struct field *)grown(of->values, (size_t)of->room * sizeof *of->values);
  }
  struct field *field = &of->values[of->count++];
  memset(field, 0, sizeof *field);
  return field;
}

void add_values(struct stream *of, int times, int width, const long long *atoms) {
  long long *copy = (long long *)grown(NULL, ((size_t)times * (size_t)width + 1) * sizeof *copy);
  if (width > 0) memcpy(copy, atoms, (size_t)times * (size_t)width * sizeof *copy);
  for (int i = 0; i < times; ++i) {
    struct field *field = another(of);
    field->count = width;
    field->atoms = copy + (long)i * width;
    if (of->handles != NULL && !of->differences) name_handles(of, copy + (long)i * width, width);
  }
}

void add_text(struct stream *of, const char *text) { another(of)->text = text; }

struct field *chosen(struct stream *of, long long number) {
  static struct field none;
  return number >= 0 && number < of->count ? &of->values[number] : &none;
}

struct field *next_field(struct stream *of) {
  if (of->stays && of->current != NULL) return of->current;
  const int number = next_in(&of->walk);
  struct field *value = chosen(of, number);
  of->current = value;
  if (!of->differences || value->text != NULL) return value;
  if (value->count > of->width) {
    of->sums = (long long *)grown(of->sums, (size_t)value->count * sizeof *of->sums);
    memset(of->sums + of->width, 0, (size_t)(value->count - of->width) * sizeof *of->sums);
    of->width = value->count;
  }
  long long *shown = (long long *)grown(NULL, ((size_t)value->count + 1) * sizeof *shown);
  for (int i = 0; i < value->count; ++i) {
    if (IS_ATOM(value->atoms[i])) {
      shown[i] = value->atoms[i];
    } else {
      of->sums[i] = (long long)((unsigned long long)of->sums[i] + (unsigned long long)value->atoms[i]);
      shown[i] = of->sums[i];
    }
  }
  if (of->handles != NULL) name_handles(of, shown, value->count);
  free((void *)(uintptr_t)of->sum.atoms);
  of->sum.atoms = shown;
  of->sum.count = value->count;
  if (of->sum.array != NULL) {
    void **place = &of->arrays[of->oldest++ % 64];
    free(*place);
    *place = of->sum.array;
    of->sum.array = NULL;
  }
  of->current = &of->sum;
  return of->current;
}

long long next_number(struct stream *of) { return number_in(next_field(of), 0); }

void play(const struct term *order, const struct call *calls) {
  struct walk walk;
  begin_walk(&walk, order);
  for (int number = next_in(&walk); number >= 0; number = next_in(&walk)) {
    const struct call *call = &calls[number];
    if (call->make != NULL) {
      call->make();
    } else {
      call->make_row(call->row);
    }
  }
  end_walk(&walk);
}

/* ---- columns */

long long along(struct column *of, long long member) {
  if (of->member == member + 1) return of->value;
  struct walk walk;
  begin_walk(&walk, of->order);
  long long last = 0, value = 0;
  for (long long i = 0; i <= member; ++i) {
    const int number = next_in(&walk);
    if (number < 0) break;
    value = of->differences[number];
    if (!IS_ATOM(value)) value = last = (long long)((unsigned long long)last + (unsigned long long)value);
  }
  end_walk(&walk);
  of->value = value;
  of->member = member + 1;
  return of->value;
}

/* ---- fields */

long long number(long long atom) {
  if (!IS_ATOM(atom)) return atom;
  return atom - ATOM(0) >= A_FIRST_CONSTANT ? constant_of((int)(atom - ATOM(A_FIRST_CONSTANT))) : 0;
}
long long number_in(const struct field *of, int at) { return at < of->count ? number(of->atoms[at]) : 0; }

long long error_in(const struct field *of) {
  const int own = of->count == 2 && IS_ATOM(of->atoms[0]) && of->atoms[0] - ATOM(0) < A_FIRST_CONSTANT;
  return number_in(of, own);
}

static int is_sums(const struct field *of) { return of->count == 1 && of->atoms[0] == ATOM(A_PREFIX_SUMS); }

/* What is not the same each time that the field is met: MPI may read it until the call after the next is done. */
static void *kept_for_now(void *array) {
  enum { kArrays = 256 };
  static _Thread_local void *all[kArrays];
  static _Thread_local int oldest;
  void **place = &all[oldest++ % kArrays];
  free(*place);
  return *place = array;
}

/* Room behind the last element. MPICH 4.0 reads as many counts to receive of MPI_Neighbor_alltoallw as there are
 * neighbours to send to, and the other way round, and goes by what it finds there: zeros, so that nothing is sent. */
enum { kSpare = 256 };

static void *spacious(size_t count, size_t bytes) {
  void *now = calloc(count + kSpare, bytes);
  if (now == NULL) fprintf(stderr, "proxy: no memory\n"), abort();
  return now;
}

anything no_elements(void) {
  static long long zeros[kSpare];
  return ANYTHING(zeros);
}

#define ARRAY(name, type)                                                               \
  type *name##_in(struct field *of, const struct field *counts) {                       \
    if (of->array != NULL && !is_sums(of)) return (type *)of->array;                    \
    const int length = is_sums(of) ? counts->count : of->count;                         \
    type *array = (type *)spacious((size_t)length, sizeof *array);                      \
    type sum = 0;                                                                       \
    for (int i = 0; i < length; ++i) {                                                  \
      array[i] = is_sums(of) ? sum : (type)number_in(of, i);                            \
      if (is_sums(of)) sum = (type)(sum + number_in(counts, i));                        \
    }                                                                                   \
    if (is_sums(of)) return (type *)kept_for_now(array);                                \
    of->array = array;                                                                  \
    return array;                                                                       \
  }                                                                                     \
  void fill_##name(type *array, const long long *runs) {                                \
    for (; runs[2] != 0; runs += 3) {                                                   \
      for (long long i = 0; i < runs[2]; ++i) *array++ = (type)(runs[0] + i * runs[1]); \
    }                                                                                   \
  }
ARRAY(ints, int)
ARRAY(aints, MPI_Aint)
ARRAY(counts, MPI_Count)

MPI_Aint *addresses_in(struct field *of) {
  if (of->array != NULL) return (MPI_Aint *)of->array;
  MPI_Aint *array = (MPI_Aint *)grown(NULL, ((size_t)of->count + 256) * sizeof *array);
  for (int i = 0; 3 * i + 2 < of->count; ++i) array[i] = AINT(address_in(of, i));
  of->array = array;
  return array;
}

anything output_in(const struct field *of, int number, long long count) {
  /* Behind a constant may stand what an ignored status would have said. */
  const long long atom = of->count % 5 == 1 ? of->atoms[0] - ATOM(0) : 0;
  if (atom == A_NULL) return ANYTHING(NULL);
  if (atom < A_FIRST_CONSTANT || !IS_ATOM(of->atoms[0])) return results(number, count);
  return ANYTHING(pointer_constant_of((int)(atom - A_FIRST_CONSTANT)));
}
