#include "trace/model/record.h"

#include <algorithm>
#include <bit>

namespace cairn::trace {

void pack_row(const Row &row, ByteWriter &out) {
  out.varint(row.function);
  out.varint(row.site);
  out.varint(row.depth);
  out.varint(row.fields.size());
  for (const Field &field : row.fields) pack_field(field, out);
}

void pack_field(const Field &field, ByteWriter &out) {
  if (field.is_bytes) {
    out.varint(static_cast<uint64_t>(field.bytes.size()) << 1 | 1);
    out.raw(field.bytes);
  } else {
    out.varint(static_cast<uint64_t>(field.atoms.size()) << 1);
    for (const Atom atom : field.atoms) out.signed_varint(atom);
  }
}

Field unpack_field(ByteReader &in) {
  Field field;
  const uint64_t head = in.varint();
  field.is_bytes = (head & 1) != 0;
  const uint64_t count = head >> 1;
  if (in.failed() || count > in.remaining()) {
    in.fail();
    return field;
  }
  if (field.is_bytes) {
    const ByteView bytes = in.raw(count);
    field.bytes.assign(bytes.begin(), bytes.end());
  } else {
    field.atoms.resize(count);
    for (Atom &atom : field.atoms) atom = in.signed_varint();
  }
  return field;
}

Result<Row> unpack_row(ByteReader &in) {
  Row row;
  const uint64_t function = in.varint();
  const uint64_t site = in.varint();
  const uint64_t depth = in.varint();
  const size_t fields = in.count();
  constexpr size_t kUsual = 16;  // no more for a number that nothing has justified yet
  row.fields.reserve(std::min(fields, kUsual));
  for (size_t i = 0; i < fields && !in.failed(); ++i) row.fields.push_back(unpack_field(in));
  if (in.failed() || std::max({function, site, depth}) > UINT32_MAX) {
    return tl::unexpected(Error{ErrorKind::unreadable, "a packed row is malformed", {}, in.position(), {}});
  }
  row.function = static_cast<uint32_t>(function);
  row.site = static_cast<uint32_t>(site);
  row.depth = static_cast<uint32_t>(depth);
  return row;
}

int CallStats::bucket(uint64_t nanoseconds) {
  if (nanoseconds < 2) return 0;
  const int octave = 63 - std::countl_zero(nanoseconds);
  const int half = static_cast<int>(nanoseconds >> (octave - 1)) & 1;
  return std::min(2 * octave + half, kBuckets - 1);
}

uint64_t CallStats::bucket_start(int bucket) {
  if (bucket <= 0) return 0;
  if (bucket == 1) return 2;  // empty: 1 has no bit below the leading one
  return (uint64_t{2} | static_cast<uint64_t>(bucket & 1)) << (bucket / 2 - 1);
}

}  // namespace cairn::trace
