#include "arrays/file/block_code.h"

#include <algorithm>
#include <cstring>

#include "arrays/file/byte_order.h"
#include "base/hash.h"

namespace cairn::arrays {
namespace {

/// A stretch of a block's bytes that need not begin or end with an element, in the file's order.
void swap_stretch(ByteView values, uint64_t from, uint64_t bytes, size_t element, uint8_t *to) {
  if (element == 1 || (from % element == 0 && bytes % element == 0)) {
    swap_bytes(values.data() + from, to, bytes, element);
    return;
  }
  for (uint64_t i = 0; i < bytes; ++i) {
    const uint64_t at = from + i;
    to[i] = values[at / element * element + (element - 1 - at % element)];
  }
}

std::optional<Bytes> encode_by_user(const UserCodec &user, ByteView values) {
  cairn_arrays_args args = user.args;
  Bytes coded(values.size() + values.size() / 8 + 1024);
  Bytes input(values.begin(), values.end());  // the function may write to it
  const size_t size = user.compress(input.data(), input.size(), coded.data(), coded.size(), &args);
  if (size == 0 || size >= values.size()) return std::nullopt;
  coded.resize(size);
  return coded;
}

std::string text_of(uint8_t codec) {
  const codec::ArrayCodec *known = codec::find_array_codec(codec);
  return known != nullptr ? "'" + std::string(known->name) + "'" : "number " + std::to_string(codec);
}

}  // namespace

codec::Element element_of(NcType type) {
  using codec::Element;
  constexpr Element kElements[] = {Element::u8,  Element::i8, Element::u8,  Element::i16, Element::i32, Element::f32,
                                   Element::f64, Element::u8, Element::u16, Element::u32, Element::i64, Element::u64};
  return size_of(type) == 0 ? Element::u8 : kElements[static_cast<size_t>(type)];
}

namespace {

struct Appended {
  uint8_t codec = codec::kStore;
  bool refers = false;
};

/// Appends the coded values.
Appended append(ByteView values, const codec::Grid &grid, const Coding &coding, bool exact, uint8_t user_number,
                Bytes *out) {
  const size_t before = out->size();
  const auto shorter = [&] { return out->size() - before < values.size(); };
  if (coding.user != nullptr) {
    const std::optional<Bytes> bytes = encode_by_user(*coding.user, values);
    const ByteView coded = bytes ? ByteView(*bytes) : values;
    out->insert(out->end(), coded.begin(), coded.end());
    return {bytes ? static_cast<uint8_t>(codec::kFirstOfUsers + user_number) : codec::kStore};
  }
  const codec::ArrayCodec *chosen = coding.choice.codec;
  codec::ArrayOptions options = coding.choice.options;
  if (chosen == nullptr) {
    // To say where a block is takes longer than its few bytes.
    constexpr size_t kFew = 64;
    chosen = values.size() <= kFew ? codec::find_array_codec(codec::kStore)
                                   : codec::choose_array_codec(values, grid, coding.choice.goal, &options);
  }
  const bool stored = chosen != nullptr && chosen->id == codec::kStore;
  const bool fits = chosen != nullptr && chosen->takes(grid.element) && !(exact && chosen->lossy);
  if (fits && !stored && chosen->encode(values, grid, options, out) && shorter())
    return {chosen->id, codec::refers(chosen->id, ByteView(*out).subspan(before))};
  // What was asked for cannot carry it (characters under a codec for floats, say): anything exact that is smaller.
  out->resize(before);
  const codec::ArrayCodec *other = codec::find_array_codec("zstd");
  if (!stored && !fits && other != nullptr && other->encode(values, grid, {}, out) && shorter()) return {other->id};
  out->resize(before);
  out->insert(out->end(), values.begin(), values.end());
  return {};
}

}  // namespace

Coded encode(ByteView values, const codec::Grid &grid, const Coding &coding, bool exact, uint8_t user_number) {
  Coded coded;
  const Appended how = append(values, grid, coding, exact, user_number, &coded.bytes);
  coded.codec = how.codec;
  coded.refers = how.refers;
  return coded;
}

Block append_block(Regions regions, codec::Element element, const Variable *variable, ByteView values,
                   const Coding &coding, bool exact, uint8_t user_number, const Reference &reference, Bytes *out) {
  Block block;
  const size_t size = codec::size_of(element);
  block.element = element;
  block.shape = {values.size() / size};
  if (regions.size() == 1 && regions[0].run % size == 0) block.shape = shape_of(regions[0], variable, size);
  block.regions = std::move(regions);
  const size_t before = out->size();
  const Appended how = append(values, {element, block.shape, reference.values}, coding, exact, user_number, out);
  block.codec = how.codec;
  block.size = out->size() - before;
  if (how.refers) block.reference = reference.sequence;
  block.checksum = hash64(ByteView(*out).subspan(before), how.refers ? reference.checksum : 0);
  return block;
}

CodedBlock make_block(Regions regions, codec::Element element, const Variable *variable, ByteView values,
                      const Coding &coding, bool exact, uint8_t user_number, const Reference &reference) {
  CodedBlock made;
  made.block =
      append_block(std::move(regions), element, variable, values, coding, exact, user_number, reference, &made.bytes);
  return made;
}

bool intact(const Block &block, ByteView coded, uint64_t reference_checksum) {
  return hash64(coded, block.reference == 0 ? 0 : reference_checksum) == block.checksum;
}

namespace {

Result<void> decode_intact(const Block &block, ByteView coded, std::span<const UserCodec *const> users,
                           const Reference &reference, std::span<uint8_t> values) {
  if (block.codec >= codec::kFirstOfUsers) {
    const size_t number = block.codec - codec::kFirstOfUsers;
    if (number >= users.size() || users[number] == nullptr || users[number]->decompress == nullptr) {
      return fail(ErrorKind::unreadable, "it was written with a codec of the program's own that is not registered",
                  "register it with ncmpi_comp_reg before reading");
    }
    const UserCodec &user = *users[number];
    Bytes input(coded.begin(), coded.end());
    cairn_arrays_args args = user.args;
    if (user.decompress(input.data(), input.size(), values.data(), values.size(), &args) != values.size()) {
      return fail(ErrorKind::unreadable, "codec '" + user.name + "' did not give back as many bytes as it was given");
    }
    return {};
  }
  const codec::ArrayCodec *known = codec::find_array_codec(block.codec);
  if (known == nullptr) {
    return fail(ErrorKind::unreadable,
                "it was written with codec " + text_of(block.codec) + ", which this build lacks");
  }
  const codec::Grid grid{block.element, block.shape, block.reference == 0 ? ByteView{} : reference.values};
  if (!known->takes(block.element) || !known->decode(coded, grid, values)) {
    return fail(ErrorKind::unreadable, "codec " + text_of(block.codec) + " cannot read it");
  }
  return {};
}

}  // namespace

Result<Bytes> decode(const Block &block, ByteView coded, std::span<const UserCodec *const> users,
                     const Reference &reference) {
  if (!intact(block, coded, reference.checksum)) return fail(ErrorKind::unreadable, "its checksum is wrong");
  Bytes values(block.bytes());
  if (auto decoded = decode_intact(block, coded, users, reference, values); !decoded)
    return tl::unexpected(decoded.error());
  return values;
}

Result<void> decode(const Block &block, ByteView coded, std::span<const UserCodec *const> users,
                    const Reference &reference, std::span<uint8_t> values) {
  if (!intact(block, coded, reference.checksum)) return fail(ErrorKind::unreadable, "its checksum is wrong");
  return decode_intact(block, coded, users, reference, values);
}

std::vector<uint64_t> shape_of(const Region &region, const Variable *variable, size_t element) {
  std::vector<uint64_t> shape;
  shape.reserve(static_cast<size_t>(region.depth) + 1);
  for (int i = 0; i < region.depth; ++i) shape.push_back(region.levels[static_cast<size_t>(i)].count);
  uint64_t row = region.run / element;
  std::vector<uint64_t> inner;
  if (variable != nullptr) {
    for (size_t i = variable->shape.size(); i-- > 0;) {
      const uint64_t length = variable->shape[i];
      if (row <= length || row % length != 0) break;
      inner.push_back(length);
      row /= length;
    }
  }
  shape.push_back(row);
  shape.insert(shape.end(), inner.rbegin(), inner.rend());
  return shape;
}

std::optional<uint64_t> place_in(const Block &block, std::span<const Region> request) {
  uint64_t wanted_at = 0;
  for (const Region &wanted : request) {
    const uint64_t here = wanted_at;
    wanted_at += wanted.bytes();
    if (block.regions.size() != 1 || block.regions[0].offset < wanted.offset || wanted.end() < block.regions[0].end())
      continue;
    std::optional<uint64_t> place;
    uint64_t found = 0;
    for_each_common(wanted, block.regions[0], [&](uint64_t in_wanted, uint64_t in_held, uint64_t bytes) {
      if (in_held != found || (place && *place + found != here + in_wanted)) return false;
      if (!place) place = here + in_wanted;
      found += bytes;
      return true;
    });
    if (place && found == block.regions[0].bytes()) return place;
  }
  return std::nullopt;
}

void lay(const Block &block, ByteView values, std::span<const Region> request, uint8_t *data) {
  const size_t element = codec::size_of(block.element);
  uint64_t wanted_at = 0;
  for (const Region &wanted : request) {
    uint64_t held_at = 0;
    for (const Region &held : block.regions) {
      if (held.offset < wanted.end() && wanted.offset < held.end()) {
        for_each_common(wanted, held, [&](uint64_t in_wanted, uint64_t in_held, uint64_t bytes) {
          swap_stretch(values, held_at + in_held, bytes, element, data + wanted_at + in_wanted);
          return true;
        });
      }
      held_at += held.bytes();
    }
    wanted_at += wanted.bytes();
  }
}

}  // namespace cairn::arrays
