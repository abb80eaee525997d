#include "trace/model/record.h"

#include <algorithm>

#include "base/as_size.h"

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
    field.atoms.resize(as_size(count));
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

}  // namespace cairn::trace
