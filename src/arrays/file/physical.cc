#include "arrays/file/physical.h"

#include <algorithm>

namespace cairn::arrays {
namespace {

constexpr uint64_t kPhysicalFormat = 1;
constexpr size_t kNumbers = 4;

void put_big(uint64_t value, Bytes *out) {
  for (int i = 7; i >= 0; --i) out->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

uint64_t get_big(const Bytes &bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value = value << 8 | bytes[at + i];
  return value;
}

Attribute text_attribute(std::string name, const std::string &text) {
  return {std::move(name), NcType::character, text.size(), {text.begin(), text.end()}};
}

/// A name that none of them has.
template <typename T>
std::string free_name(std::string name, const std::vector<T> &taken) {
  while (std::ranges::find(taken, name, &T::name) != taken.end()) name += '_';
  return name;
}

Header composed(const Header &from, const IndexPlace &index, uint64_t data_begin, uint64_t data_end) {
  Header header;
  header.records = from.records;
  header.dimensions = from.dimensions;
  header.attributes = from.attributes;
  Attribute mark{kMarker, NcType::int64, kNumbers, {}};
  for (const uint64_t number : {kPhysicalFormat, index.offset, index.size, index.checksum})
    put_big(number, &mark.values);
  header.attributes.push_back(std::move(mark));
  if (index.session) {
    Attribute writer{kWriter, NcType::int64, 2, {}};
    put_big(*index.session, &writer.values);
    put_big(number_of(index.storage), &writer.values);
    header.attributes.push_back(std::move(writer));
  }
  header.attributes.push_back(
      text_attribute(kNote, "Variables are compressed: read them with 'cairn arrays run' or 'cairn arrays export'"));
  for (const Variable &variable : from.variables) {
    Variable scalar;
    scalar.name = variable.name;
    scalar.type = variable.type;
    scalar.attributes = variable.attributes;
    std::string names;
    for (const uint32_t dimension : variable.dimensions) names += from.dimensions[dimension].name + ' ';
    if (!names.empty()) names.pop_back();
    scalar.attributes.push_back(text_attribute(kShape, names));
    header.variables.push_back(std::move(scalar));
  }
  header.dimensions.push_back(
      {free_name("cairn_bytes", from.dimensions), std::max<uint64_t>(data_end - data_begin, 4)});
  Variable data;
  data.name = free_name("cairn_data", from.variables);
  data.type = NcType::ubyte;
  data.dimensions = {static_cast<uint32_t>(header.dimensions.size() - 1)};
  data.begin = data_begin;
  header.variables.push_back(std::move(data));
  return header;
}

constexpr uint64_t kScalar = 8;  // bytes that each takes behind the header

}  // namespace

uint64_t number_of(const std::optional<Storage> &storage) { return storage ? 1 + static_cast<uint64_t>(*storage) : 0; }

std::optional<Storage> storage_of(uint64_t number) {
  if (number < 1 || number > 3) return std::nullopt;
  return static_cast<Storage>(number - 1);
}

std::optional<IndexPlace> marked(const Header &physical) {
  const Attribute *mark = physical.attribute(kMarker);
  if (mark == nullptr || mark->type != NcType::int64 || mark->count != kNumbers ||
      mark->values.size() != kNumbers * 8 || get_big(mark->values, 0) != kPhysicalFormat) {
    return std::nullopt;
  }
  IndexPlace place{get_big(mark->values, 8), get_big(mark->values, 16), get_big(mark->values, 24), std::nullopt, {}};
  const Attribute *writer = physical.attribute(kWriter);
  if (writer != nullptr && writer->type == NcType::int64 && writer->values.size() == 2 * 8) {
    place.session = get_big(writer->values, 0);
    place.storage = storage_of(get_big(writer->values, 8));
  }
  return place;
}

bool ours(const Header &physical) {
  return physical.attribute(kMarker) != nullptr || physical.attribute(kNote) != nullptr;
}

Bytes physical_header(const Header &virtual_header, const IndexPlace &index, uint64_t data_begin, uint64_t data_end) {
  Header header = composed(virtual_header, index, data_begin, data_end);
  uint64_t at = write_header(header).size();
  for (size_t i = 0; i + 1 < header.variables.size(); ++i, at += kScalar) header.variables[i].begin = at;
  Bytes bytes = write_header(header);
  bytes.resize(at);
  return bytes;
}

uint64_t room_for_header(const Header &virtual_header, uint64_t alignment) {
  constexpr uint64_t kSpare = 2048;
  const uint64_t wanted = physical_header(virtual_header, {}, 0, 4).size() * 3 / 2 + kSpare;
  return (wanted + alignment - 1) / alignment * alignment;
}

}  // namespace cairn::arrays
