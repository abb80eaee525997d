#include "arrays/layer/flatten.h"

#include <algorithm>

namespace cairn::arrays {
namespace {

/// Displacements may be negative in a type; those of a file view's bytes are not.
struct Part {
  MPI_Aint offset = 0;
  Region region;  ///< from 0 on
};
using Parts = std::vector<Part>;

struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

  ~Contents() {
    for (MPI_Datatype &type : types) {
      int integers_of = 0;
      int addresses_of = 0;
      int types_of = 0;
      int named = MPI_COMBINER_NAMED;
      MPI_Type_get_envelope(type, &integers_of, &addresses_of, &types_of, &named);
      if (named != MPI_COMBINER_NAMED) MPI_Type_free(&type);
    }
  }
};

bool get(MPI_Datatype type, Contents *contents) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  if (MPI_Type_get_envelope(type, &integers, &addresses, &types, &contents->combiner) != MPI_SUCCESS) return false;
  if (contents->combiner == MPI_COMBINER_NAMED) return true;
  std::vector<MPI_Datatype> inner(static_cast<size_t>(types), MPI_DATATYPE_NULL);
  contents->integers.resize(static_cast<size_t>(integers));
  contents->addresses.resize(static_cast<size_t>(addresses));
  // One more: MPI wants addresses, also of arrays without elements.
  contents->integers.reserve(contents->integers.size() + 1);
  contents->addresses.reserve(contents->addresses.size() + 1);
  inner.reserve(inner.size() + 1);
  if (MPI_Type_get_contents(type, integers, addresses, types, contents->integers.data(), contents->addresses.data(),
                            inner.data()) != MPI_SUCCESS) {
    return false;
  }
  contents->types = std::move(inner);
  return true;
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

bool take_apart(MPI_Datatype type, Parts *parts);

void shifted(const Parts &parts, MPI_Aint by, Parts *out) {
  for (Part part : parts) {
    part.offset += by;
    out->push_back(part);
  }
}

/// `count` copies, `stride` apart: as a level if that keeps the order, else one by one.
bool repeated(const Parts &parts, uint64_t count, MPI_Aint stride, Parts *out) {
  if (count == 0 || parts.empty()) return true;
  if (parts.size() == 1 && stride > 0) {
    Part part = parts[0];
    if (part.region.repeat(count, static_cast<uint64_t>(stride))) {
      out->push_back(part);
      return true;
    }
  }
  constexpr uint64_t kMost = uint64_t{1} << 26;
  if (count * parts.size() > kMost) return false;
  for (uint64_t i = 0; i < count; ++i) shifted(parts, static_cast<MPI_Aint>(i) * stride, out);
  return true;
}

/// Blocks of `length` elements of one type.
bool block(MPI_Datatype type, const Parts &element, int length, Parts *out) {
  return repeated(element, static_cast<uint64_t>(length), extent_of(type), out);
}

bool indexed(const Contents &c, int count, bool bytes, bool equal, Parts *parts) {
  Parts element;
  if (!take_apart(c.types[0], &element)) return false;
  const MPI_Aint extent = extent_of(c.types[0]);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const int length = equal ? c.integers[1] : c.integers[1 + at];
    MPI_Aint displacement = 0;
    if (bytes) {
      displacement = c.addresses[at];
    } else {
      displacement = c.integers[(equal ? 2 : 1 + static_cast<size_t>(count)) + at] * extent;
    }
    Parts some;
    if (!block(c.types[0], element, length, &some)) return false;
    shifted(some, displacement, parts);
  }
  return true;
}

bool subarray(const Contents &c, Parts *parts) {
  const auto axes = static_cast<size_t>(c.integers[0]);
  const int *sizes = c.integers.data() + 1;
  const int *subsizes = sizes + axes;
  const int *starts = subsizes + axes;
  const bool c_order = c.integers[1 + 3 * axes] == MPI_ORDER_C;
  Parts inner;
  if (!take_apart(c.types[0], &inner)) return false;
  MPI_Aint stride = extent_of(c.types[0]);
  MPI_Aint begin = 0;
  for (size_t i = 0; i < axes; ++i) {
    const size_t axis = c_order ? axes - 1 - i : i;
    Parts next;
    if (!repeated(inner, static_cast<uint64_t>(subsizes[axis]), stride, &next)) return false;
    inner = std::move(next);
    begin += starts[axis] * stride;
    stride *= sizes[axis];
  }
  shifted(inner, begin, parts);
  return true;
}

bool structure(const Contents &c, Parts *parts) {
  for (int i = 0; i < c.integers[0]; ++i) {
    const auto at = static_cast<size_t>(i);
    Parts element;
    Parts some;
    if (c.integers[1 + at] == 0) continue;
    if (!take_apart(c.types[at], &element) || !block(c.types[at], element, c.integers[1 + at], &some)) return false;
    shifted(some, c.addresses[at], parts);
  }
  return true;
}

bool vector(const Contents &c, MPI_Aint stride, Parts *parts) {
  Parts element;
  Parts some;
  return take_apart(c.types[0], &element) && block(c.types[0], element, c.integers[1], &some) &&
         repeated(some, static_cast<uint64_t>(c.integers[0]), stride, parts);
}

bool named(MPI_Datatype type, Parts *parts) {
  int size = 0;
  MPI_Type_size(type, &size);
  if (size == 0) return true;
  Part part;
  part.region.run = static_cast<uint64_t>(size);
  parts->push_back(part);
  return static_cast<MPI_Aint>(size) == extent_of(type);  // a type with a hole, as MPI_SHORT_INT: not told
}

bool take_apart(MPI_Datatype type, Parts *parts) {
  Contents c;
  if (!get(type, &c)) return false;
  switch (c.combiner) {
    case MPI_COMBINER_NAMED:
      return named(type, parts);
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return take_apart(c.types[0], parts);
    case MPI_COMBINER_CONTIGUOUS: {
      Parts element;
      return take_apart(c.types[0], &element) && block(c.types[0], element, c.integers[0], parts);
    }
    case MPI_COMBINER_VECTOR:
      return vector(c, c.integers[2] * extent_of(c.types[0]), parts);
    case MPI_COMBINER_HVECTOR:
      return vector(c, c.addresses[0], parts);
    case MPI_COMBINER_INDEXED:
      return indexed(c, c.integers[0], false, false, parts);
    case MPI_COMBINER_HINDEXED:
      return indexed(c, c.integers[0], true, false, parts);
    case MPI_COMBINER_INDEXED_BLOCK:
      return indexed(c, c.integers[0], false, true, parts);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return indexed(c, c.integers[0], true, true, parts);
    case MPI_COMBINER_STRUCT:
      return structure(c, parts);
    case MPI_COMBINER_SUBARRAY:
      return subarray(c, parts);
    default:
      return false;
  }
}

}  // namespace

std::optional<Flat> flatten(MPI_Datatype type) {
  Parts parts;
  if (!take_apart(type, &parts)) return std::nullopt;
  Flat flat;
  uint64_t end = 0;
  for (const Part &part : parts) {
    if (part.offset < 0 || static_cast<uint64_t>(part.offset) < end) return std::nullopt;
    Region region = part.region;
    region.offset += static_cast<uint64_t>(part.offset);
    end = region.end();
    flat.size += region.bytes();
    flat.regions.push_back(region);
  }
  flat.regions = fold(flat.regions);
  flat.extent = static_cast<uint64_t>(std::max<MPI_Aint>(extent_of(type), 0));
  return flat;
}

std::optional<Regions> tile(const Flat &flat, uint64_t offset, uint64_t first, uint64_t bytes) {
  Regions regions;
  if (bytes == 0) return regions;
  if (flat.size == 0) return std::nullopt;
  const uint64_t tiles = (first + bytes + flat.size - 1) / flat.size;
  uint64_t begin = first / flat.size;
  const uint64_t skipped = first - begin * flat.size;
  if (flat.regions.size() == 1) {
    Region region = flat.regions[0];
    if (!region.repeat(tiles - begin, flat.extent)) return std::nullopt;
    region.offset += begin * flat.extent;
    regions.push_back(region);
  } else {
    for (; begin < tiles; ++begin) {
      for (Region region : flat.regions) {
        region.offset += begin * flat.extent;
        if (!regions.empty() && region.offset < regions.back().end()) return std::nullopt;
        regions.push_back(region);
      }
    }
  }
  regions = cut(regions, skipped, bytes);
  for (Region &region : regions) region.offset += offset;
  return regions;
}

}  // namespace cairn::arrays
