// Regions of random datatypes, three deep, beside what MPI itself packs: every byte of the buffer has a value of its
// own place, so that the packed bytes tell the type map. Types that are not in file order must be refused, and no
// others. Alone: one process, without mpiexec.
#include "arrays/layer/flatten.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

using cairn::arrays::Flat;
using cairn::arrays::flatten;
using cairn::arrays::Region;
using cairn::arrays::Regions;
using cairn::arrays::RunCursor;
using cairn::arrays::tile;

namespace {

std::mt19937 engine(1);
int below(int limit) { return static_cast<int>(engine() % static_cast<unsigned>(limit)); }

void expect(bool good, const char *what, int number) {
  if (good) return;
  fprintf(stderr, "type %d: %s\n", number, what);
  exit(1);
}

/// Displacements in ascending order most of the time.
template <typename T>
std::vector<T> displacements(int count, T step) {
  std::vector<T> at;
  T next = static_cast<T>(below(3));
  for (int i = 0; i < count; ++i) {
    at.push_back(next * step);
    next += static_cast<T>(1 + below(5));
  }
  if (below(12) == 0) std::reverse(at.begin(), at.end());
  return at;
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

MPI_Datatype random_type(int depth) {
  const MPI_Datatype basic[] = {MPI_BYTE, MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_SHORT_INT};
  if (depth == 0) return basic[below(below(20) == 0 ? 6 : 5)];
  MPI_Datatype inner = random_type(depth - 1);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Aint extent = std::max<MPI_Aint>(extent_of(inner), 1);
  const int count = 1 + below(3);
  std::vector<int> lengths(static_cast<size_t>(count));
  for (int &length : lengths) length = below(3);
  switch (below(11)) {
    case 0:
      MPI_Type_contiguous(below(4), inner, &type);
      break;
    case 1:
      MPI_Type_vector(count, 1 + below(2), 1 + below(4), inner, &type);
      break;
    case 2:
      MPI_Type_create_hvector(count, 1 + below(2), extent * (1 + below(4)) + below(3), inner, &type);
      break;
    case 3:
      MPI_Type_indexed(count, lengths.data(), displacements<int>(count, 2).data(), inner, &type);
      break;
    case 4:
      MPI_Type_create_hindexed(count, lengths.data(), displacements<MPI_Aint>(count, 2 * extent).data(), inner, &type);
      break;
    case 5:
      MPI_Type_create_indexed_block(count, 1 + below(2), displacements<int>(count, 2).data(), inner, &type);
      break;
    case 6:
      MPI_Type_create_hindexed_block(count, 1, displacements<MPI_Aint>(count, extent + 1).data(), inner, &type);
      break;
    case 7: {
      MPI_Datatype other = random_type(depth - 1);
      const MPI_Datatype types[] = {inner, other};
      const MPI_Aint at[] = {below(4), 3 * extent + below(5)};
      const int each[] = {below(3), below(3)};
      MPI_Type_create_struct(2, each, at, types, &type);
      break;
    }
    case 8: {
      const int axes = 1 + below(3);
      int sizes[3];
      int parts[3];
      int starts[3];
      for (int i = 0; i < axes; ++i) {
        sizes[i] = 1 + below(4);
        parts[i] = 1 + below(sizes[i]);
        starts[i] = below(sizes[i] - parts[i] + 1);
      }
      MPI_Type_create_subarray(axes, sizes, parts, starts, below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner,
                               &type);
      break;
    }
    case 9:
      MPI_Type_create_resized(inner, 0, extent + below(9), &type);
      break;
    default:
      MPI_Type_dup(inner, &type);
      break;
  }
  return type;  // inner types are left to MPI_Finalize
}

/// Where each byte that MPI packs comes from.
std::vector<uint64_t> packed_places(MPI_Datatype type, int count) {
  int size = 0;
  MPI_Type_size(type, &size);
  if (size == 0) return {};
  MPI_Aint lower = 0;
  MPI_Aint true_extent = 0;
  MPI_Type_get_true_extent(type, &lower, &true_extent);
  const auto reach = static_cast<size_t>(lower + true_extent + extent_of(type) * (count - 1)) + 64;
  std::vector<uint64_t> places(static_cast<size_t>(size) * static_cast<size_t>(count));
  // A byte tells a place of at most 255: one pass for each of three bytes of it.
  for (int digit = 0; digit < 3; ++digit) {
    std::vector<unsigned char> buffer(reach);
    for (size_t i = 0; i < reach; ++i) buffer[i] = static_cast<unsigned char>(i >> (8 * digit));
    std::vector<unsigned char> packed(places.size() + 64);
    int position = 0;
    MPI_Pack(buffer.data(), count, type, packed.data(), static_cast<int>(packed.size()), &position, MPI_COMM_SELF);
    for (size_t i = 0; i < places.size(); ++i) places[i] |= static_cast<uint64_t>(packed[i]) << (8 * digit);
  }
  return places;
}

std::vector<uint64_t> places_of(const Regions &regions) {
  std::vector<uint64_t> places;
  for (const Region &region : regions) {
    for (RunCursor runs(region); !runs.done(); runs.next()) {
      for (uint64_t at = runs.run().offset; at < runs.run().end(); ++at) places.push_back(at);
    }
  }
  return places;
}

/// In file order, no byte twice.
bool in_order(const std::vector<uint64_t> &places) {
  return std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) == places.end();
}

/// A basic type with a hole may be refused.
bool has_holes(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED) return type == MPI_SHORT_INT;
  std::vector<int> numbers(static_cast<size_t>(integers) + 1);
  std::vector<MPI_Aint> places(static_cast<size_t>(addresses) + 1);
  std::vector<MPI_Datatype> inner(static_cast<size_t>(types) + 1);
  MPI_Type_get_contents(type, integers, addresses, types, numbers.data(), places.data(), inner.data());
  return std::any_of(inner.begin(), inner.begin() + types, has_holes);
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int told = 0;
  int refused = 0;
  for (int number = 0; number < 4000; ++number) {
    MPI_Datatype type = random_type(1 + below(3));
    MPI_Type_commit(&type);
    const std::vector<uint64_t> wanted = packed_places(type, 1);
    const std::optional<Flat> flat = flatten(type);
    if (!flat) {
      ++refused;
      expect(!in_order(wanted) || has_holes(type), "refused, though it is in file order", number);
      continue;
    }
    ++told;
    expect(places_of(flat->regions) == wanted, "other bytes than MPI packs", number);
    expect(flat->size == wanted.size(), "another size", number);
    expect(flat->extent == static_cast<uint64_t>(extent_of(type)), "another extent", number);
    if (wanted.empty()) continue;
    const std::vector<uint64_t> three = packed_places(type, 3);
    const uint64_t first = engine() % three.size();
    const uint64_t bytes = 1 + engine() % (three.size() - first);
    std::vector<uint64_t> some(three.begin() + static_cast<std::ptrdiff_t>(first),
                               three.begin() + static_cast<std::ptrdiff_t>(first + bytes));
    for (uint64_t &place : some) place += 77;
    const std::optional<Regions> tiled = tile(*flat, 77, first, bytes);
    expect(tiled || !in_order(three), "tiles refused, though they are in file order", number);
    if (tiled) expect(places_of(*tiled) == some, "other bytes of tiles than MPI packs", number);
  }
  expect(told > 2000 && refused > 20, "too few of a kind", told);
  printf("%d types as MPI has them, %d refused\n", told, refused);
  MPI_Finalize();
  return 0;
}
