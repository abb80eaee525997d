#include "trace/code/packed_class.h"

#include <numeric>
#include <utility>

#include "trace/code/class_reader.h"
#include "trace/code/class_writer.h"
#include "trace/code/plain_class.h"
#include "trace/code/section.h"
#include "trace/model/class_checks.h"

namespace cairn::trace {
namespace {

/// The class's own numbers of its sites.
std::vector<uint32_t> own_numbers(size_t sites) {
  std::vector<uint32_t> numbers(sites);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

Bytes packed_bytes(const ClassPart &part) {
  ClassWriter writer(false, nullptr);
  writer.add(part, own_numbers(part.sites.size()));
  ByteWriter out;
  for (const Bytes &section : {writer.grammars(), writer.columns(), writer.rows(), writer.streams(), writer.order(),
                               writer.timing(), writer.begin()}) {
    out.blob(section);
  }
  return out.take();
}

class Unpacking {
 public:
  Unpacking(ClassHead head, const PackedClass &packed) : packed_(packed), in_(packed.bytes) {
    static_cast<ClassHead &>(part_) = std::move(head);
  }

  Result<ClassPart> run() {
    // Rows were told with these, and nothing else needs sites.
    std::vector<uint32_t> sites = std::exchange(part_.sites, own_numbers(part_.sites.size()));
    ClassReader::no_order(&part_);
    const bool good =
        section(SectionKind::grammars, [&](ByteReader &in) { return reader_.grammars(in); }) &&
        section(SectionKind::columns, [&](ByteReader &in) { return reader_.columns(in); }) &&
        section(SectionKind::rows,
                [&](ByteReader &in) {
                  return reader_.row_shapes(in) && reader_.grammar(in, &part_) && reader_.rows(in, &part_);
                }) &&
        section_if_any(SectionKind::streams,
                       [&](ByteReader &in) { return reader_.stream_shapes(in) && reader_.streams(in, &part_); }) &&
        section_if_any(SectionKind::order, [&](ByteReader &in) { return reader_.order(in, &part_); }) &&
        section_if_any(SectionKind::timing, [&](ByteReader &in) { return reader_.stats_alone(in, &part_); }) &&
        section(SectionKind::meta, [&](ByteReader &in) { return reader_.begin(in, &part_); });
    if (good && !in_.at_end()) refuse("a packed class is longer than what it holds");
    if (good && !has_what_moved(part_)) {
      refuse("section 'streams' does not hold the fields that have moved out of the rows");
    }
    if (!error_.message.empty()) return tl::unexpected(std::move(error_));
    part_.sites = std::move(sites);
    return std::move(part_);
  }

 private:
  void refuse(const char *what) {
    error_.kind = ErrorKind::unreadable;
    error_.message = what;
    error_.offset = packed_.offset;
  }

  template <typename Read>
  bool section(SectionKind kind, Read read) {
    const ByteView bytes = in_.blob();
    return read_section(kind, bytes, read);
  }

  template <typename Read>
  bool section_if_any(SectionKind kind, Read read) {
    const ByteView bytes = in_.blob();
    return (bytes.empty() && !in_.failed()) || read_section(kind, bytes, read);
  }

  template <typename Read>
  bool read_section(SectionKind kind, ByteView bytes, Read read) {
    ByteReader in(bytes);
    if (!in_.failed() && read(in) && !in.failed() && in.at_end()) return true;
    const SectionView view{static_cast<uint8_t>(kind), bytes, packed_.offset + in_.position() - bytes.size(), false};
    error_ = section_error(view, in.position(), reader_.what());
    return false;
  }

  const PackedClass &packed_;
  ByteReader in_;
  ClassReader reader_;
  ClassPart part_;
  Error error_;
};

}  // namespace

PackedClass pack(const ClassPart &part) {
  ClassPart copy = part;
  return pack(std::move(copy));
}

PackedClass pack(ClassPart &&part) {
  auto times = std::exchange(part.times, {});  // stand in the head
  PackedClass packed;
  packed.bytes = packed_bytes(part);
  static_cast<ClassHead &>(packed) = std::move(part);
  packed.times = std::move(times);
  return packed;
}

namespace {

Result<ClassPart> unpacked(ClassHead head, const PackedClass &packed) {
  if (!packed.plain) return Unpacking(std::move(head), packed).run();
  PlainClass plain;
  ClassPart part;
  const char *wrong = plain.read(packed.bytes, head) ? plain.made(std::move(head), &part) : "is malformed";
  if (wrong == nullptr) return part;
  return tl::unexpected(Error{ErrorKind::unreadable, std::string("a packed class ") + wrong, {}, packed.offset, {}});
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

}  // namespace

Result<ClassPart> unpack(const PackedClass &packed) { return unpacked(packed, packed); }

Result<ClassPart> unpack(PackedClass &&packed) {
  ClassHead head = std::move(static_cast<ClassHead &>(packed));
  return unpacked(std::move(head), packed);
}

Result<void> pack_tightly(PackedClass *packed) {
  if (!packed->plain) return {};
  Result<ClassPart> part = unpack(std::move(*packed));
  if (!part) return tl::unexpected(part.error());
  PackedClass tight = pack(*std::move(part));
  tight.offset = packed->offset;
  tight.received = packed->received;
  *packed = std::move(tight);
  return {};
}

void write_packed(const PackedClass &packed, ByteWriter &out) {
  write_head(packed, out);
  out.byte(packed.plain ? 1 : 0);
  out.blob(packed.bytes);
}

void write_packed(const ClassPart &part, ByteWriter &out) {
  if (!can_be_plain(part)) {
    write_packed(pack(part), out);
    return;
  }
  write_head(part, out);
  out.byte(1);
  constexpr size_t kBytes = 1000;  // of most
  ByteWriter bytes(kBytes);
  write_plain(part, bytes);
  out.blob(bytes.view());
}

size_t words_of(const ClassPart &part) {
  // A column's own terms are not looked for: on a few ranks they are few.
  constexpr size_t kRow = 24;
  constexpr size_t kVaried = 24;
  constexpr size_t kSlot = 24;
  const auto of_row = [](const ClassRow &row) {
    return kRow + row.heads.size() + row.atoms.size() + kVaried * (row.varied.size() + row.tables.size());
  };
  size_t words = 0;
  for (const RowPointer &row : part.rows) words += of_row(*row);
  for (const Stream &stream : part.streams) {
    for (const StreamVariant &variant : stream.variants) {
      for (const RowPointer &row : variant.values) words += of_row(*row);
    }
  }
  for (const StatsBlock &block : part.stats) words += kSlot * block.slots.size();
  return words;
}

}  // namespace cairn::trace
