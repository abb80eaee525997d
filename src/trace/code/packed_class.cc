#include "trace/code/packed_class.h"

#include <string>
#include <utility>

#include "codec/codec.h"
#include "trace/code/class_writer.h"
#include "trace/code/plain_class.h"

namespace cairn::trace {
namespace {

constexpr size_t kBytes = 1000;  // of most classes

tl::unexpected<Error> refused(const char *why, const PackedClass &packed) {
  return tl::unexpected(Error{ErrorKind::unreadable, std::string("a packed class ") + why, {}, packed.offset, {}});
}

Bytes plain(const ClassPart &part) {
  ByteWriter out(kBytes);
  write_plain(part, out);
  return out.take();
}

Result<ClassPart> unpacked(ClassHead head, const PackedClass &packed) {
  Bytes room;
  const Result<ByteView> bytes = plain_bytes(packed, &room);
  if (!bytes) return tl::unexpected(bytes.error());
  PlainClass plain;
  ClassPart part;
  const char *wrong = plain.read(*bytes, head) ? plain.made(std::move(head), &part) : "is malformed";
  if (wrong != nullptr) return refused(wrong, packed);
  return part;
}

void write_head(const ClassHead &head, ByteWriter &out) {
  out.varint(head.thread);
  out.varint(static_cast<uint32_t>(head.segment + 1));
  for (const Hash128 &hash : {head.key, head.skeleton}) {
    out.fixed64(hash.low);
    out.fixed64(hash.high);
  }
  head.ranks.column().write(out);
  write_sites(head.sites, out);
  timing::write(head.times, out);
}

void write_bytes(ByteView bytes, uint64_t size, ByteWriter &out) {
  out.varint(size == bytes.size() ? 0 : size);
  out.blob(bytes);
}

}  // namespace

PackedClass pack(const ClassPart &part) {
  PackedClass packed;
  packed.bytes = plain(part);
  packed.size = packed.bytes.size();
  static_cast<ClassHead &>(packed) = part;
  return packed;
}

PackedClass pack(ClassPart &&part) {
  PackedClass packed;
  packed.bytes = plain(part);
  packed.size = packed.bytes.size();
  static_cast<ClassHead &>(packed) = std::move(part);
  return packed;
}

void squeeze(PackedClass *packed) {
  constexpr int kLevel = 1;
  if (packed->squeezed()) return;
  Bytes fewer;
  if (!codec::encode(codec::kZstd, packed->bytes, kLevel, &fewer)) return;
  if (fewer.size() >= packed->size || packed->size > codec::decoded_bound(fewer.size())) return;
  fewer.shrink_to_fit();
  packed->bytes = std::move(fewer);
}

Result<ByteView> plain_bytes(const PackedClass &packed, Bytes *room) {
  if (!packed.squeezed()) return ByteView(packed.bytes);
  if (!codec::decode(codec::kZstd, packed.bytes, packed.size, room)) {
    return refused("cannot be decompressed", packed);
  }
  return ByteView(*room);
}

Result<ClassPart> unpack(const PackedClass &packed) { return unpacked(packed, packed); }

Result<ClassPart> unpack(PackedClass &&packed) {
  ClassHead head = std::move(static_cast<ClassHead &>(packed));
  return unpacked(std::move(head), packed);
}

void write_packed(const PackedClass &packed, ByteWriter &out) {
  write_head(packed, out);
  write_bytes(packed.bytes, packed.size, out);
}

void write_packed(const ClassPart &part, ByteWriter &out) {
  write_head(part, out);
  const Bytes bytes = plain(part);
  write_bytes(bytes, bytes.size(), out);
}

size_t words_of(const ClassPart &part) {
  // A column's own terms are not looked for: on a few ranks they are few.
  constexpr size_t kRow = 24;
  constexpr size_t kVaried = 24;
  constexpr size_t kSlot = 6;
  const auto of_row = [](const ClassRow &row) {
    return kRow + row.heads.size() + row.atoms.size() + kVaried * (row.varied.size() + row.tables.size());
  };
  size_t words = 0;
  for (const RowPointer &row : part.rows) words += of_row(*row);
  const auto add = [&](const Stream &stream) {
    for (const StreamVariant &variant : stream.variants) {
      for (const RowPointer &row : variant.values) words += of_row(*row);
    }
  };
  for (const Stream &stream : part.streams) add(stream);
  add(part.heap);
  for (const StatsBlock &block : part.stats) words += kSlot * block.slots.size();
  return words;
}

}  // namespace cairn::trace
