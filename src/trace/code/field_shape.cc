#include "trace/code/field_shape.h"

#include <utility>

#include "base/as_size.h"

namespace cairn::trace {
namespace {

constexpr unsigned kFormBits = 3;
// What stands in place of the count of `moved`: nothing, the cycle of a counted row, that two fields' numbers follow,
// or that the row is optional.
constexpr uint32_t kSingle = 0;
constexpr uint32_t kDrains = Counted::kLongestCycle + 1;
constexpr uint32_t kOptional = kDrains + 1;

uint32_t number_of_kind(const RowKind &kind) {
  if (const auto *counted = std::get_if<Counted>(&kind)) return counted->cycle;
  if (std::holds_alternative<Draining>(kind)) return kDrains;
  return is_call(kind) ? kSingle : kOptional;
}

size_t bytes_for(uint64_t bits) { return as_size((bits + 7) / 8); }

Bytes read_bits(ByteReader &in, uint64_t bits) {
  const ByteView bytes = in.raw(bytes_for(bits));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

uint64_t FieldShape::codes() const {
  switch (form) {
    case atoms:
    case varied:
    case beside:
      return count;
    case moved:
      return 0;
    default:
      return 1;
  }
}

FieldHead FieldShape::head() const {
  switch (form) {
    case text:
      return {FieldHead::text, 1};
    case table:
      return {FieldHead::table, 1};
    case moved:
      return {FieldHead::moved, 0};
    default:
      return {FieldHead::atoms, count};
  }
}

FieldShape shape_of(const RowKind &kind) {
  FieldShape shape;
  shape.form = FieldShape::moved;
  shape.kind = kind;
  return shape;
}

void FieldShape::write(ByteWriter &out) const {
  out.varint(uint64_t{form == moved ? number_of_kind(kind) : count} << kFormBits | form);
  if (form == varied || form == beside) out.raw(columns);
  if (form == beside) out.raw(moving);
  if (const auto *draining = std::get_if<Draining>(&kind)) {
    out.varint(draining->first_output);
    out.varint(draining->answer);
  }
}

bool FieldShape::parse(ByteReader &in) {
  const uint64_t number = in.varint();
  const uint64_t number_of_atoms = number >> kFormBits;
  if (number_of_atoms > FieldHead::kMostAtoms) return false;
  form = static_cast<Form>(number & ((1U << kFormBits) - 1));
  count = static_cast<uint32_t>(number_of_atoms);
  switch (form) {
    case atoms:
    case successive:
      break;
    case varied:
      columns = read_bits(in, count);
      break;
    case beside:
      columns = read_bits(in, count);
      moving = read_bits(in, count);
      break;
    case array:
    case text:
    case table:
      if (count != 0) return false;
      break;
    case moved:
      if (const uint32_t of_kind = std::exchange(count, 0); of_kind > kOptional) {
        return false;
      } else if (of_kind == kDrains) {
        const uint64_t first = in.varint();
        const uint64_t answer = in.varint();
        if (first > Draining::kMostFields || answer > Draining::kMostFields) return false;
        kind = Draining{static_cast<uint32_t>(first), static_cast<uint32_t>(answer)};
      } else if (of_kind == kOptional) {
        kind = Optional();
      } else if (of_kind != kSingle) {
        kind = Counted{of_kind};
      }
      break;
  }
  return !in.failed();
}

}  // namespace cairn::trace
