#include "arrays/file/physical.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "base/hash.h"

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

constexpr std::string_view kData = "cairn_data";
constexpr std::string_view kOfCairn = ".cairn";  // behind a variable's name

/// "T.cairn" for T; where that is longer than names may be, of T its front, and a hash of it.
std::string scalar_name(const std::string &variable) {
  constexpr size_t kMost = 256;  // bytes, as NC_MAX_NAME of netCDF and PnetCDF: their tools have no room for more
  constexpr size_t kHash = 16;
  if (variable.size() + kOfCairn.size() <= kMost) return variable + std::string(kOfCairn);
  size_t front = kMost - 1 - kHash - kOfCairn.size();
  while (front > 0 && (static_cast<uint8_t>(variable[front]) & 0xc0) == 0x80) --front;  // within a letter
  std::string name = variable.substr(0, front) + '.';
  const uint64_t hash = hash64({reinterpret_cast<const uint8_t *>(variable.data()), variable.size()});
  for (size_t i = kHash; i-- > 0;) name += "0123456789abcdef"[hash >> (4 * i) & 15];
  return name + std::string(kOfCairn);
}

/// What stands where nothing was written, big-endian: the variable's own fill value, or its type's.
Bytes fill_of(const Variable &variable) {
  for (const Attribute &attribute : variable.attributes) {
    if (attribute.name == "_FillValue" && attribute.type == variable.type && attribute.count == 1)
      return attribute.values;
  }
  uint64_t bits = 0;
  switch (variable.type) {
    case NcType::byte:
      bits = 0x81;
      break;
    case NcType::character:
      break;
    case NcType::int16:
      bits = 0x8001;
      break;
    case NcType::int32:
      bits = 0x80000001;
      break;
    case NcType::f32:
      bits = std::bit_cast<uint32_t>(9.9692099683868690e+36F);
      break;
    case NcType::f64:
      bits = std::bit_cast<uint64_t>(9.9692099683868690e+36);
      break;
    case NcType::ubyte:
    case NcType::uint16:
    case NcType::uint32:
      bits = UINT32_MAX;
      break;
    case NcType::int64:
      bits = 0x8000000000000002;
      break;
    case NcType::uint64:
      bits = 0xfffffffffffffffe;
      break;
  }
  Bytes bytes;
  put_big(bits, &bytes);
  return {bytes.end() - static_cast<std::ptrdiff_t>(size_of(variable.type)), bytes.end()};
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
  if (!index.earlier) {
    Attribute begin{kBegin, NcType::int64, 1, {}};
    put_big(data_begin, &begin.values);
    header.attributes.push_back(std::move(begin));
  }
  header.attributes.push_back(text_attribute(
      kNote, "Values are compressed, in cairn_data: read them with 'cairn arrays read', 'run' or 'export'"));
  for (const Variable &variable : from.variables) {
    Variable scalar;
    scalar.name = index.earlier ? variable.name : free_name(scalar_name(variable.name), from.variables);
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
  data.name = free_name(std::string(kData), from.variables);
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

std::optional<std::string> with_our_name(const Header &virtual_header) {
  constexpr std::string_view kOurs = "_Cairn_";
  for (const Attribute &each : virtual_header.attributes) {
    if (each.name.starts_with(kOurs)) return "attribute '" + each.name + "'";
  }
  for (const Variable &variable : virtual_header.variables) {
    for (const Attribute &each : variable.attributes) {
      if (each.name.starts_with(kOurs)) return "attribute '" + each.name + "' of '" + variable.name + "'";
    }
  }
  return std::nullopt;
}

std::optional<IndexPlace> marked(const Header &physical) {
  const Attribute *mark = physical.attribute(kMarker);
  if (mark == nullptr || mark->type != NcType::int64 || mark->count != kNumbers ||
      mark->values.size() != kNumbers * 8 || get_big(mark->values, 0) != kPhysicalFormat) {
    return std::nullopt;
  }
  IndexPlace place{get_big(mark->values, 8), get_big(mark->values, 16), get_big(mark->values, 24), std::nullopt};
  const Attribute *begin = physical.attribute(kBegin);
  const Variable *data = data_of(physical);
  place.earlier = begin == nullptr || begin->type != NcType::int64 || begin->values.size() != 8;
  if (!place.earlier && data != nullptr) place.moved = data->begin - get_big(begin->values, 0);
  place.offset += place.moved;
  const Attribute *writer = physical.attribute(kWriter);
  if (writer != nullptr && writer->type == NcType::int64 && writer->values.size() == 2 * 8) {
    place.session = get_big(writer->values, 0);
    place.storage = storage_of(get_big(writer->values, 8));
  }
  return place;
}

const Variable *data_of(const Header &physical) {
  for (const Variable &variable : physical.variables) {
    const bool named =
        variable.name.starts_with(kData) && variable.name.find_first_not_of('_', kData.size()) == std::string::npos;
    if (named && variable.type == NcType::ubyte && variable.dimensions.size() == 1 && !variable.record)
      return &variable;
  }
  return nullptr;
}

bool ours(const Header &physical) {
  return physical.attribute(kMarker) != nullptr || physical.attribute(kNote) != nullptr;
}

Bytes physical_header(const Header &virtual_header, const IndexPlace &index, uint64_t data_begin, uint64_t data_end) {
  Header header = composed(virtual_header, index, data_begin, data_end);
  uint64_t at = write_header(header).size();
  for (size_t i = 0; i + 1 < header.variables.size(); ++i, at += kScalar) header.variables[i].begin = at;
  Bytes bytes = write_header(header);
  for (size_t i = 0; i + 1 < header.variables.size(); ++i) {
    const Bytes fill = index.earlier ? Bytes() : fill_of(header.variables[i]);
    bytes.insert(bytes.end(), fill.begin(), fill.end());
    bytes.resize(header.variables[i].begin + kScalar);
  }
  return bytes;
}

std::vector<std::string> changes(const Header &physical, const Header &expected) {
  std::vector<std::string> found;
  const auto compare = [&](const auto &now, const auto &before, const std::string &what, const std::string &of,
                           const auto &differ) {
    for (const auto &each : before) {
      const auto same = std::ranges::find_if(now, [&](const auto &other) { return other.name == each.name; });
      if (same == now.end()) {
        found.push_back(what + " '" + each.name + "'" + of + " is gone");
      } else if (differ(*same, each)) {
        found.push_back(what + " '" + each.name + "'" + of + " was changed");
      }
    }
    for (const auto &each : now) {
      if (std::ranges::none_of(before, [&](const auto &other) { return other.name == each.name; }))
        found.push_back(what + " '" + each.name + "'" + of + " was added");
    }
  };
  const auto attributes_differ = [](const Attribute &a, const Attribute &b) {
    return a.type != b.type || a.values != b.values;
  };
  compare(physical.attributes, expected.attributes, "attribute", "", attributes_differ);
  compare(physical.dimensions, expected.dimensions, "dimension", "",
          [](const Dimension &a, const Dimension &b) { return a.length != b.length; });
  compare(physical.variables, expected.variables, "variable", "", [](const Variable &a, const Variable &b) {
    return a.type != b.type || a.dimensions.size() != b.dimensions.size();
  });
  for (const Variable &each : expected.variables) {
    const auto same = std::ranges::find(physical.variables, each.name, &Variable::name);
    if (same == physical.variables.end()) continue;
    compare(same->attributes, each.attributes, "attribute", " of '" + each.name + "'", attributes_differ);
  }
  return found;
}

uint64_t room_for_header(const Header &virtual_header, uint64_t alignment) {
  constexpr uint64_t kSpare = 2048;
  const uint64_t wanted = physical_header(virtual_header, {}, 0, 4).size() * 3 / 2 + kSpare;
  return (wanted + alignment - 1) / alignment * alignment;
}

}  // namespace cairn::arrays
