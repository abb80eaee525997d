#include "analyze/darray.h"

#include <algorithm>

#include "spec/ids.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

/// `a` times `b`, and INT64_MAX where that is too large.
int64_t product_at_most(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

}  // namespace

int64_t DarrayDimension::elements() const {
  const int64_t there = std::max<int64_t>(0, side - product_at_most(block, place));
  if (!cyclic) return std::min(there, block);
  const int64_t round = product_at_most(block, parts);
  return there / round * block + std::min(there % round, block);
}

std::optional<std::vector<DarrayDimension>> darray_of(const RowAccess &row) {
  const auto size = row.number("size");
  const auto rank = row.number("rank");
  const auto sides = row.numbers("array_of_gsizes");
  const trace::Field *distributions = row.field("array_of_distribs");
  const trace::Field *blocks = row.field("array_of_dargs");
  const auto processes = row.numbers("array_of_psizes");
  if (!size || !rank || !sides || !processes || distributions == nullptr || blocks == nullptr) return std::nullopt;
  if (processes->size() != sides->size() || *rank < 0 || *rank >= *size) return std::nullopt;
  std::vector<DarrayDimension> dimensions;
  int64_t left = *size;
  int64_t among = *rank;
  trace::AtomReader kinds(distributions->atoms);
  trace::AtomReader arguments(blocks->atoms);
  for (size_t i = 0; i < sides->size(); ++i) {
    const int64_t parts = (*processes)[i];
    if (parts <= 0 || left % parts != 0 || (*sides)[i] <= 0) return std::nullopt;
    left /= parts;
    DarrayDimension made;
    made.side = (*sides)[i];
    const int kind = kinds.next().constant();
    const trace::AtomValue argument = arguments.next();
    const int64_t asked = argument.special ? 0 : argument.value;  // else MPI_DISTRIBUTE_DFLT_DARG
    const bool whole = kind == spec::constant_id::k_DISTRIBUTE_NONE;
    made.parts = whole ? 1 : parts;
    made.place = whole ? 0 : among / left;
    among %= left;
    made.cyclic = kind == spec::constant_id::k_DISTRIBUTE_CYCLIC;
    const int64_t usual = made.cyclic ? 1 : (made.side - 1) / made.parts + 1;
    made.block = asked > 0 && !whole ? asked : usual;
    dimensions.push_back(made);
  }
  if (kinds.failed() || arguments.failed()) return std::nullopt;
  return dimensions;
}

}  // namespace cairn::analyze
