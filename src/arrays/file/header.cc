#include "arrays/file/header.h"

#include <algorithm>
#include <cstring>

namespace cairn::arrays {
namespace {

constexpr uint32_t kDimensionTag = 0x0A;
constexpr uint32_t kVariableTag = 0x0B;
constexpr uint32_t kAttributeTag = 0x0C;
constexpr uint64_t kStreaming = UINT32_MAX;  // number of records in a file that was never closed: not used by PnetCDF

uint64_t padded(uint64_t bytes) { return (bytes + 3) & ~uint64_t{3}; }

/// Big-endian fields of a header, with a note of how much more would be needed.
class HeaderReader {
 public:
  explicit HeaderReader(ByteView bytes) : bytes_(bytes) {}

  [[nodiscard]] bool good() const { return wanted_ == 0 && fault_ == nullptr; }
  [[nodiscard]] uint64_t wanted() const { return wanted_; }
  [[nodiscard]] const char *fault() const { return fault_; }
  [[nodiscard]] uint64_t position() const { return at_; }
  void set_wide(bool wide) { wide_ = wide; }
  void fail(const char *fault) {
    if (good()) fault_ = fault;
  }

  uint64_t fixed(size_t width) {
    if (!need(width)) return 0;
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i) value = value << 8 | bytes_[at_ + i];
    at_ += width;
    return value;
  }
  uint64_t number() { return fixed(wide_ ? 8 : 4); }

  /// A count of things of at least `least` bytes each: no more than could stand in a file of 2^62 bytes, and the reader
  /// of things stops at the end of the bytes anyway.
  uint64_t count() {
    const uint64_t value = number();
    if (value > uint64_t{1} << 40) fail("a count in it is absurd");
    return good() ? value : 0;
  }

  std::string text() {
    const uint64_t size = count();
    if (!need(padded(size))) return {};
    std::string text(reinterpret_cast<const char *>(bytes_.data() + at_), size);
    at_ += padded(size);
    return text;
  }

  std::string name() {
    std::string name = text();
    if (good() && name.empty()) fail("a name in it is empty");
    return name;
  }

  Bytes values(uint64_t size) {
    if (!need(padded(size))) return {};
    Bytes values(bytes_.begin() + static_cast<ptrdiff_t>(at_), bytes_.begin() + static_cast<ptrdiff_t>(at_ + size));
    at_ += padded(size);
    return values;
  }

  /// The front of a list: how many elements follow.
  uint64_t list(uint32_t tag) {
    const uint64_t found = fixed(4);
    const uint64_t elements = count();
    if (found != tag && !(found == 0 && elements == 0)) fail("a list in it has no known tag");
    return good() ? elements : 0;
  }

 private:
  bool need(uint64_t size) {
    if (!good()) return false;
    if (size > bytes_.size() - at_) {
      wanted_ = at_ + size;
      return false;
    }
    return true;
  }

  ByteView bytes_;
  uint64_t at_ = 0;
  uint64_t wanted_ = 0;
  const char *fault_ = nullptr;
  bool wide_ = false;
};

NcType read_type(HeaderReader *in) {
  const auto type = static_cast<NcType>(in->fixed(4));
  if (in->good() && size_of(type) == 0) in->fail("it names a type that there is not");
  return type;
}

std::vector<Attribute> read_attributes(HeaderReader *in) {
  std::vector<Attribute> attributes;
  const uint64_t count = in->list(kAttributeTag);
  for (uint64_t i = 0; i < count && in->good(); ++i) {
    Attribute attribute;
    attribute.name = in->name();
    attribute.type = read_type(in);
    attribute.count = in->count();
    if (in->good()) attribute.values = in->values(attribute.count * size_of(attribute.type));
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

Variable read_variable(HeaderReader *in, const Header &header) {
  Variable variable;
  variable.name = in->name();
  const uint64_t rank = in->count();
  for (uint64_t i = 0; i < rank && in->good(); ++i) {
    const uint64_t dimension = in->number();
    if (in->good() && dimension >= header.dimensions.size()) in->fail("a variable has a dimension that there is not");
    variable.dimensions.push_back(static_cast<uint32_t>(dimension));
  }
  variable.attributes = read_attributes(in);
  variable.type = read_type(in);
  in->number();  // vsize: follows from the shape
  variable.begin = in->fixed(header.version == 1 ? 4 : 8);
  if (!in->good()) return variable;
  variable.slab = size_of(variable.type);
  for (size_t i = 0; i < variable.dimensions.size(); ++i) {
    const uint64_t length = header.dimensions[variable.dimensions[i]].length;
    if (length == 0) {
      if (i != 0) in->fail("the record dimension is not the first of a variable");
      variable.record = true;
      continue;
    }
    variable.shape.push_back(length);
    if (variable.slab > (uint64_t{1} << 60) / length) in->fail("a variable in it is absurdly large");
    variable.slab *= length;
  }
  return variable;
}

/// False if a place in the file is absurd: offsets are added up and multiplied without looking from here on.
bool settle_records(Header *header) {
  constexpr uint64_t kMost = uint64_t{1} << 60;
  const auto records = std::ranges::count_if(header->variables, [](const Variable &v) { return v.record; });
  for (const Variable &variable : header->variables) {
    if (variable.begin > kMost) return false;
    if (!variable.record) continue;
    // A lone record variable is not padded.
    header->record_size += records == 1 ? variable.slab : padded(variable.slab);
    if (header->record_size > kMost) return false;
    if (header->first_record == 0 || variable.begin < header->first_record) header->first_record = variable.begin;
  }
  return header->record_size == 0 || header->records <= kMost / header->record_size;
}

class HeaderWriter {
 public:
  void fixed(uint64_t value, int width) {
    for (int i = width - 1; i >= 0; --i) out_.byte(static_cast<uint8_t>(value >> (8 * i)));
  }
  void number(uint64_t value) { fixed(value, 8); }
  void raw(ByteView bytes) {
    out_.raw(bytes);
    for (uint64_t i = bytes.size(); i < padded(bytes.size()); ++i) out_.byte(0);
  }
  void text(const std::string &text) {
    number(text.size());
    raw({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  }
  void list(uint32_t tag, size_t elements) {
    fixed(elements == 0 ? 0 : tag, 4);
    number(elements);
  }
  void attributes(const std::vector<Attribute> &attributes) {
    list(kAttributeTag, attributes.size());
    for (const Attribute &attribute : attributes) {
      text(attribute.name);
      fixed(static_cast<uint32_t>(attribute.type), 4);
      number(attribute.count);
      raw(attribute.values);
    }
  }
  Bytes take() { return out_.take(); }

 private:
  ByteWriter out_;
};

}  // namespace

size_t size_of(NcType type) {
  constexpr uint8_t kSizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  const auto number = static_cast<uint32_t>(type);
  return number < std::size(kSizes) ? kSizes[number] : 0;
}

const Attribute *Header::attribute(const std::string &name) const {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

Regions Header::where(const Variable &variable) const {
  Region region;
  region.offset = variable.begin;
  region.run = variable.slab;
  if (variable.slab == 0 || (variable.record && records == 0)) return {};
  if (variable.record && !region.repeat(records, record_size)) return {};
  return {region};
}

uint64_t Header::end() const {
  uint64_t last = size;
  for (const Variable &variable : variables) {
    const Regions regions = where(variable);
    if (!regions.empty()) last = std::max(last, regions.back().end());
  }
  return last;
}

Result<Parsed> parse_header(ByteView bytes) {
  constexpr size_t kMagic = 4;
  if (bytes.size() < kMagic) return Parsed{std::nullopt, kMagic};
  const int version = bytes[3];
  if (memcmp(bytes.data(), "CDF", 3) != 0 || (version != 1 && version != 2 && version != 5)) {
    return fail(ErrorKind::unreadable, "this is no NetCDF file of the classic formats");
  }
  Header header;
  header.version = version;
  HeaderReader in(bytes);
  in.fixed(kMagic);
  in.set_wide(version == 5);
  header.records = in.number();
  if (version != 5 && header.records == kStreaming) header.records = 0;
  const uint64_t dimensions = in.list(kDimensionTag);
  for (uint64_t i = 0; i < dimensions && in.good(); ++i) {
    Dimension dimension;
    dimension.name = in.name();
    dimension.length = in.number();
    header.dimensions.push_back(std::move(dimension));
  }
  header.attributes = read_attributes(&in);
  const uint64_t variables = in.list(kVariableTag);
  for (uint64_t i = 0; i < variables && in.good(); ++i) header.variables.push_back(read_variable(&in, header));
  if (in.fault() != nullptr) {
    return fail(ErrorKind::unreadable, std::string("the NetCDF header is damaged: ") + in.fault());
  }
  if (!in.good()) return Parsed{std::nullopt, in.wanted()};
  header.size = in.position();
  if (!settle_records(&header)) {
    return fail(ErrorKind::unreadable, "the NetCDF header is damaged: a place or a size in it is absurd");
  }
  return Parsed{std::move(header), 0};
}

Bytes write_header(const Header &header) {
  HeaderWriter out;
  out.fixed(0x43444605, 4);  // "CDF", 5
  out.number(header.records);
  out.list(kDimensionTag, header.dimensions.size());
  for (const Dimension &dimension : header.dimensions) {
    out.text(dimension.name);
    out.number(dimension.length);
  }
  out.attributes(header.attributes);
  out.list(kVariableTag, header.variables.size());
  for (const Variable &variable : header.variables) {
    out.text(variable.name);
    out.number(variable.dimensions.size());
    uint64_t bytes = size_of(variable.type);
    for (const uint32_t dimension : variable.dimensions) {
      out.number(dimension);
      if (header.dimensions[dimension].length != 0) bytes *= header.dimensions[dimension].length;
    }
    out.attributes(variable.attributes);
    out.fixed(static_cast<uint32_t>(variable.type), 4);
    out.number(padded(bytes));
    out.number(variable.begin);
  }
  return out.take();
}

Layout::Layout(const Header &header) {
  for (size_t i = 0; i < header.variables.size(); ++i) {
    const Variable &variable = header.variables[i];
    if (variable.slab == 0) continue;
    if (variable.record) {
      const uint64_t begin = variable.begin - header.first_record;
      record_.push_back({begin, begin + variable.slab, static_cast<int>(i)});
    } else {
      fixed_.push_back({variable.begin, variable.begin + variable.slab, static_cast<int>(i)});
    }
  }
  std::ranges::sort(fixed_, {}, &Slab::begin);
  std::ranges::sort(record_, {}, &Slab::begin);
  if (!record_.empty()) {
    first_record_ = header.first_record;
    record_size_ = header.record_size;
  }
}

Layout::Place Layout::place_in(const std::vector<Slab> &slabs, uint64_t offset, uint64_t limit) {
  const auto after = std::ranges::upper_bound(slabs, offset, {}, &Slab::begin);
  const uint64_t next = after == slabs.end() ? limit : std::min(limit, after->begin);
  if (after != slabs.begin()) {
    const Slab &slab = *std::prev(after);
    if (offset < slab.end) return {slab.variable, slab.begin, slab.end};
    return {-1, slab.end, next};
  }
  return {-1, 0, next};
}

Layout::Place Layout::find(uint64_t offset) const {
  if (offset < first_record_) return place_in(fixed_, offset, first_record_);
  const uint64_t into = offset - first_record_;
  const uint64_t record = first_record_ + into / record_size_ * record_size_;
  Place place = place_in(record_, into % record_size_, record_size_);
  place.begin += record;
  place.end += record;
  return place;
}

std::optional<int> Layout::owner(const Region &region) const {
  const Place place = find(region.offset);
  if (place.end >= region.end()) return place.variable;
  if (place.variable < 0 || region.offset < first_record_) return std::nullopt;
  // The records of a lone variable follow each other without a gap.
  if (place.end - place.begin == record_size_) return place.variable;
  // A box over several records: levels that step from record to record leave each run where it is in its slab.
  uint64_t reach = region.offset + region.run;
  for (int i = 0; i < region.depth; ++i) {
    const Level &level = region.levels[static_cast<size_t>(i)];
    if (level.stride % record_size_ != 0) reach += (level.count - 1) * level.stride;
  }
  if (reach <= place.end) return place.variable;
  return std::nullopt;
}

}  // namespace cairn::arrays
