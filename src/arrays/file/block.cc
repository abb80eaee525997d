#include "arrays/file/block.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "codec/codec.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kColumns = 1;  // format
constexpr uint64_t kMostShape = 64;
constexpr size_t kShared = 4;   // a shape of more regions belongs to one block: a few bytes must not become much memory
constexpr uint8_t kAtHome = 1;  // flags of a block
constexpr uint8_t kReferring = 2;
constexpr uint8_t kReplaced = 4;

uint8_t flags_of(const Block &block) {
  return static_cast<uint8_t>((block.at_home ? kAtHome : 0) | (block.reference != 0 ? kReferring : 0) |
                              (block.replaced ? kReplaced : 0));
}

/// A region that is in file order and below kMostOffset, or nothing.
bool unpack_region(uint64_t from, ByteReader *in, Region *region) {
  const uint64_t distance = in->varint();
  region->offset = from + distance;
  region->run = in->varint();
  const uint64_t depth = in->varint();
  // A distance that wraps around would put it before its predecessor.
  if (distance > kMostOffset || depth > Region::kMostLevels || region->run == 0 || region->offset > kMostOffset ||
      region->run > kMostOffset) {
    return false;
  }
  std::array<Level, Region::kMostLevels> levels{};
  for (uint64_t i = 0; i < depth; ++i) levels[i] = {in->varint(), in->varint()};
  for (uint64_t i = depth; i-- > 0;) {
    if (levels[i].count < 2 || levels[i].stride == 0 || levels[i].count > kMostOffset / levels[i].stride) return false;
    if (!region->repeat(levels[i].count, levels[i].stride) || region->end() > kMostOffset) return false;
  }
  return !in->failed();
}

/// Regions, the first counted from `origin` on, and axes.
void pack_shape(const Block &block, uint64_t origin, ByteWriter *out) {
  out->varint(block.regions.size());
  for (const Region &region : block.regions) {
    pack(region, origin, out);
    origin = region.end();
  }
  out->varint(block.shape.size());
  for (const uint64_t length : block.shape) out->varint(length);
}

/// The same, counted from 0 on, of a block whose element type is known.
bool unpack_shape(ByteReader *in, Block *block) {
  const uint64_t regions = in->varint();
  if (regions == 0 || regions > in->remaining()) return false;
  uint64_t from = 0;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < regions; ++i) {
    Region region;
    if (!unpack_region(from, in, &region)) return false;
    from = region.end();
    bytes += region.bytes();
    block->regions.push_back(region);
  }
  const uint64_t axes = in->varint();
  if (axes > kMostShape) return false;
  uint64_t elements = 1;
  for (uint64_t i = 0; i < axes; ++i) {
    const uint64_t length = in->varint();
    if (length == 0 || length > kMostOffset / elements) return false;
    elements *= length;
    block->shape.push_back(length);
  }
  return elements <= kMostOffset / 8 && elements * codec::size_of(block->element) == bytes && bytes <= kMostBlock;
}

bool is_element(uint8_t element) { return element <= static_cast<uint8_t>(codec::Element::f64); }

/// What of the rest of a block no writer would have written.
bool sound(const Block &block) {
  return block.offset <= kMostOffset && block.size <= kMostOffset && !(block.at_home && block.size > block.bytes());
}

bool unpack_reference(ByteReader *in, Block *block) {
  const uint64_t distance = in->varint();
  if (distance == 0 || distance >= block->sequence) return false;
  block->reference = block->sequence - distance;
  return true;
}

void pack_block(const Block &block, const Block &before, ByteWriter *out) {
  out->byte(static_cast<uint8_t>(block.element));
  out->byte(block.codec);
  out->byte(flags_of(block));
  pack_shape(block, 0, out);
  out->signed_varint(static_cast<int64_t>(block.sequence - before.sequence));
  if (block.reference != 0) out->varint(block.sequence - block.reference);
  out->signed_varint(static_cast<int64_t>(block.offset - (before.offset + before.size)));
  out->varint(block.size);
  out->fixed64(block.checksum);
}

bool unpack_flags(uint8_t flags, Block *block) {
  block->at_home = (flags & kAtHome) != 0;
  block->replaced = (flags & kReplaced) != 0;
  return flags <= (kAtHome | kReferring | kReplaced);
}

bool unpack_block(const Block &before, ByteReader *in, Block *block) {
  const uint8_t element = in->byte();
  if (!is_element(element)) return false;
  block->element = static_cast<codec::Element>(element);
  block->codec = in->byte();
  const uint8_t flags = in->byte();
  if (!unpack_flags(flags, block) || !unpack_shape(in, block)) return false;
  block->sequence = before.sequence + static_cast<uint64_t>(in->signed_varint());
  if ((flags & kReferring) != 0 && !unpack_reference(in, block)) return false;
  block->offset = before.offset + before.size + static_cast<uint64_t>(in->signed_varint());
  block->size = in->varint();
  block->checksum = in->fixed64();
  return !in->failed() && sound(*block);
}

tl::unexpected<Error> damaged(uint64_t block) {
  return fail(ErrorKind::unreadable, "block " + std::to_string(block) + " of the index is damaged");
}

/// All but the shapes of `pack_columns`, into blocks that have flags already.
bool unpack_numbers(ByteReader *in, std::span<const uint8_t> flags, std::vector<Block> *blocks) {
  const Block none;
  const Block *before = &none;
  for (Block &block : *blocks) {
    block.sequence = before->sequence + static_cast<uint64_t>(in->signed_varint());
    before = &block;
  }
  for (size_t i = 0; i < blocks->size(); ++i) {
    if ((flags[i] & kReferring) != 0 && !unpack_reference(in, &(*blocks)[i])) return false;
  }
  for (Block &block : *blocks) block.size = in->varint();
  before = &none;
  for (Block &block : *blocks) {
    block.offset = before->offset + before->size + static_cast<uint64_t>(in->signed_varint());
    before = &block;
  }
  for (Block &block : *blocks) block.checksum = in->fixed64();
  return !in->failed();
}

/// Moves a block that begins at 0 to `begin`.
bool place(uint64_t begin, Block *block) {
  if (begin > kMostOffset) return false;
  for (Region &region : block->regions) {
    region.offset += begin;
    if (region.end() > kMostOffset) return false;
  }
  return true;
}

/// The shapes that there are, as blocks at 0 of which nothing else is known.
bool unpack_forms(ByteReader *in, std::vector<Block> *forms) {
  const size_t count = in->count(6);
  for (size_t i = 0; i < count; ++i) {
    Block &form = forms->emplace_back();
    const uint8_t element = in->byte();
    if (!is_element(element)) return false;
    form.element = static_cast<codec::Element>(element);
    if (!unpack_shape(in, &form) || form.begin() != 0) return false;
  }
  return !in->failed();
}

}  // namespace

std::vector<Run> places(const Block &block, uint64_t home) {
  std::vector<Run> places;
  if (!block.at_home) {
    places.push_back({block.offset, block.size});
    return places;
  }
  uint64_t left = block.size;
  for (const Region &region : block.regions) {
    for (RunCursor runs(region); left > 0 && !runs.done(); runs.next()) {
      const uint64_t taken = std::min(left, runs.run().bytes);
      const uint64_t offset = home + runs.run().offset;
      if (!places.empty() && places.back().end() == offset) {
        places.back().bytes += taken;
      } else {
        places.push_back({offset, taken});
      }
      left -= taken;
    }
  }
  return places;
}

void pack_stream(ByteView plain, ByteWriter *out) {
  const uint8_t codecs[] = {codec::kZstd};
  const codec::Encoded packed = codec::smallest(plain, codecs);
  out->byte(packed.codec);
  out->varint(plain.size());
  out->raw(packed.bytes);
}

bool unpack_stream(ByteView packed, Bytes *plain) {
  ByteReader in(packed);
  const uint8_t codec = in.byte();
  const uint64_t size = in.varint();
  return !in.failed() && codec::decode(codec, packed.subspan(in.position()), size, plain);
}

void pack(std::span<const Block *const> blocks, ByteWriter *out) {
  out->varint(blocks.size());
  const Block none;
  const Block *before = &none;
  for (const Block *block : blocks) {
    pack_block(*block, *before, out);
    before = block;
  }
}

Bytes pack(std::span<const Block> blocks) {
  std::vector<const Block *> each;
  each.reserve(blocks.size());
  for (const Block &block : blocks) each.push_back(&block);
  ByteWriter out;
  pack(each, &out);
  return out.take();
}

Result<std::vector<Block>> unpack_blocks(ByteReader *in) {
  const uint64_t count = in->varint();
  if (count > in->remaining()) return fail(ErrorKind::unreadable, "the index of blocks is cut short");
  std::vector<Block> blocks;
  const Block none;
  const Block *before = &none;
  blocks.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    Block block;
    if (!unpack_block(*before, in, &block)) return damaged(i);
    blocks.push_back(std::move(block));
    before = &blocks.back();
  }
  return blocks;
}

Result<std::vector<Block>> unpack_blocks(ByteView bytes) {
  ByteReader in(bytes);
  return unpack_blocks(&in);
}

Bytes pack_columns(std::span<const Block *const> blocks) {
  std::unordered_map<std::string, size_t> known;
  std::vector<size_t> form_of;
  size_t forms = 0;
  ByteWriter shapes;
  for (const Block *block : blocks) {
    ByteWriter form;
    form.byte(static_cast<uint8_t>(block->element));
    pack_shape(*block, block->begin(), &form);
    bool fresh = true;
    size_t number = forms;
    if (block->regions.size() <= kShared) {
      const auto [found, first] = known.try_emplace(std::string(form.view().begin(), form.view().end()), forms);
      fresh = first;
      number = found->second;
    }
    if (fresh) shapes.raw(form.view());
    if (fresh) ++forms;
    form_of.push_back(number);
  }
  ByteWriter out;
  out.varint(blocks.size());
  out.varint(forms);
  out.raw(shapes.view());
  for (const size_t form : form_of) out.varint(form);
  for (const Block *block : blocks) out.byte(block->codec);
  for (const Block *block : blocks) out.byte(flags_of(*block));
  // From the block before, or from 0.
  const auto put_differences = [&](const auto &number, const auto &next) {
    uint64_t expected = 0;
    for (const Block *block : blocks) {
      out.signed_varint(static_cast<int64_t>(number(*block) - expected));
      expected = next(*block);
    }
  };
  const auto begin = [](const Block &block) { return block.begin(); };
  const auto sequence = [](const Block &block) { return block.sequence; };
  const auto offset = [](const Block &block) { return block.offset; };
  const auto end = [](const Block &block) { return block.offset + block.size; };
  put_differences(begin, begin);
  put_differences(sequence, sequence);
  for (const Block *block : blocks) {
    if (block->reference != 0) out.varint(block->sequence - block->reference);
  }
  for (const Block *block : blocks) out.varint(block->size);
  put_differences(offset, end);
  for (const Block *block : blocks) out.fixed64(block->checksum);
  ByteWriter whole;
  whole.varint(kColumns);
  pack_stream(out.view(), &whole);
  return whole.take();
}

Result<std::vector<Block>> unpack_columns(ByteView bytes) {
  const auto bad = fail(ErrorKind::unreadable, "a segment of the index of blocks is damaged");
  ByteReader front(bytes);
  const uint64_t format = front.varint();
  Bytes plain;
  if (front.failed() || format != kColumns || !unpack_stream(bytes.subspan(front.position()), &plain)) return bad;
  constexpr size_t kLeast = 15;  // bytes of a block in all columns
  ByteReader in(plain);
  const size_t count = in.count(kLeast);
  std::vector<Block> forms;
  if (in.failed() || !unpack_forms(&in, &forms)) return bad;
  std::vector<Block> blocks;
  blocks.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t form = in.varint();
    if (in.failed() || form >= forms.size()) return bad;
    if (forms[form].regions.empty()) return bad;  // was used before
    if (forms[form].regions.size() <= kShared) {
      blocks.push_back(forms[form]);
    } else {
      blocks.push_back(std::move(forms[form]));
      forms[form].regions.clear();
    }
  }
  for (Block &block : blocks) block.codec = in.byte();
  const ByteView flags = in.raw(count);
  if (in.failed()) return bad;
  for (size_t i = 0; i < count; ++i) {
    if (!unpack_flags(flags[i], &blocks[i])) return damaged(i);
  }
  uint64_t begin = 0;
  for (Block &block : blocks) {
    begin += static_cast<uint64_t>(in.signed_varint());
    if (!place(begin, &block)) return bad;
  }
  if (!unpack_numbers(&in, flags, &blocks) || !in.at_end()) return bad;
  for (size_t i = 0; i < count; ++i) {
    if (!sound(blocks[i])) return damaged(i);
  }
  return blocks;
}

}  // namespace cairn::arrays
