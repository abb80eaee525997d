#include "arrays/file/index.h"

#include <algorithm>

#include "base/hash.h"
#include "codec/codec.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kFormat = 1;
constexpr uint64_t kMostShape = 64;
constexpr uint8_t kAtHome = 1;  // flags of a block
constexpr uint8_t kReferring = 2;
constexpr uint8_t kReplaced = 4;

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

void pack_block(const Block &block, const Block &before, ByteWriter *out) {
  out->byte(static_cast<uint8_t>(block.element));
  out->byte(block.codec);
  out->byte(static_cast<uint8_t>((block.at_home ? kAtHome : 0) | (block.reference != 0 ? kReferring : 0) |
                                 (block.replaced ? kReplaced : 0)));
  out->varint(block.regions.size());
  uint64_t from = 0;
  for (const Region &region : block.regions) {
    pack(region, from, out);
    from = region.end();
  }
  out->varint(block.shape.size());
  for (const uint64_t length : block.shape) out->varint(length);
  out->signed_varint(static_cast<int64_t>(block.sequence - before.sequence));
  if (block.reference != 0) out->varint(block.sequence - block.reference);
  out->signed_varint(static_cast<int64_t>(block.offset - (before.offset + before.size)));
  out->varint(block.size);
  out->fixed64(block.checksum);
}

bool unpack_block(const Block &before, ByteReader *in, Block *block) {
  const uint8_t element = in->byte();
  if (element > static_cast<uint8_t>(codec::Element::f64)) return false;
  block->element = static_cast<codec::Element>(element);
  block->codec = in->byte();
  const uint8_t flags = in->byte();
  if (flags > (kAtHome | kReferring | kReplaced)) return false;
  block->at_home = (flags & kAtHome) != 0;
  block->replaced = (flags & kReplaced) != 0;
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
  if (elements > kMostOffset / 8 || elements * codec::size_of(block->element) != bytes) return false;
  block->sequence = before.sequence + static_cast<uint64_t>(in->signed_varint());
  if ((flags & kReferring) != 0) {
    const uint64_t distance = in->varint();
    if (distance == 0 || distance >= block->sequence) return false;
    block->reference = block->sequence - distance;
  }
  block->offset = before.offset + before.size + static_cast<uint64_t>(in->signed_varint());
  block->size = in->varint();
  block->checksum = in->fixed64();
  if ((block->at_home && block->size > bytes) || bytes > kMostBlock) return false;
  return !in->failed() && block->offset <= kMostOffset && block->size <= kMostOffset;
}

void pack_blocks(std::span<const Block> blocks, ByteWriter *out) {
  out->varint(blocks.size());
  const Block none;
  const Block *before = &none;
  for (const Block &block : blocks) {
    pack_block(block, *before, out);
    before = &block;
  }
}

Result<std::vector<Block>> read_blocks(ByteReader *in) {
  const uint64_t count = in->varint();
  if (count > in->remaining()) return fail(ErrorKind::unreadable, "the index of blocks is cut short");
  std::vector<Block> blocks;
  const Block none;
  const Block *before = &none;
  blocks.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    Block block;
    if (!unpack_block(*before, in, &block)) {
      return fail(ErrorKind::unreadable, "block " + std::to_string(i) + " of the index is damaged");
    }
    blocks.push_back(std::move(block));
    before = &blocks.back();
  }
  return blocks;
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

void Index::remember(size_t block) {
  const Block &each = blocks_[block];
  by_sequence_.try_emplace(each.sequence, block);
  const std::optional<size_t> reference = reference_of(each);
  depths_.push_back(reference ? depths_[*reference] + 1 : 0);
  if (each.replaced) ++kept_;
}

bool Index::move(uint64_t by) {
  bool fits = true;
  const auto shift = [&](uint64_t *place) {
    *place += by;
    fits = fits && *place <= kMostOffset;
  };
  for (uint64_t *place : {&data_begin, &home, &end}) shift(place);
  if (home_end != 0) shift(&home_end);
  for (Block &block : blocks_) {
    if (!block.at_home) shift(&block.offset);
  }
  return fits;
}

void Index::keep_replaced() {
  if (keeping_) return;
  keeping_ = true;
  for (size_t i = 0; i < blocks_.size(); ++i) remember(i);
}

std::optional<size_t> Index::reference_of(const Block &block) const {
  if (block.reference == 0) return std::nullopt;
  const auto known = by_sequence_.find(block.reference);
  return known == by_sequence_.end() ? std::nullopt : std::optional(known->second);
}

uint32_t Index::depth(size_t block) const { return keeping_ ? depths_[block] : 0; }

/// Whether the newer of two blocks over the same regions took the place of the older, wholly.
bool Index::replace(size_t known, Block &block) {
  Block &old = blocks_[known];
  const bool newer = block.sequence >= old.sequence;
  if (keeping_) {
    (newer ? old : block).replaced = true;
    if (newer) ++kept_;
    return false;
  }
  const Block &gone = newer ? old : block;
  if (!gone.at_home) replaced += gone.size;
  if (newer) old = std::move(block);
  return true;
}

bool Index::add(Block block) {
  if (block.reference != 0 || block.replaced) {
    keep_replaced();
    const std::optional<size_t> reference = reference_of(block);
    if (block.reference != 0 && (!reference || blocks_[*reference].element != block.element ||
                                 blocks_[*reference].bytes() != block.bytes() || depths_[*reference] >= kMostChain))
      return false;
  }
  virtual_end_ = std::max(virtual_end_, block.end());
  if (!block.replaced) {
    const auto [known, fresh] = by_regions_.try_emplace(hash_of(block.regions, 0), blocks_.size());
    // Equal hashes of others: both stay, the newer is the one that can be replaced.
    const bool same = !fresh && blocks_[known->second].regions == block.regions;
    if (same && replace(known->second, block)) return true;
    if (!block.replaced) known->second = blocks_.size();
  }
  blocks_.push_back(std::move(block));
  if (keeping_) remember(blocks_.size() - 1);
  return true;
}

std::vector<bool> Index::needed(const std::function<bool(size_t)> &visible) const {
  std::vector<bool> needed(blocks_.size());
  for (size_t i = blocks_.size(); i-- > 0;) {
    if (!needed[i] && !blocks_[i].replaced) needed[i] = visible(i);
    if (!needed[i]) continue;
    if (const std::optional<size_t> reference = reference_of(blocks_[i])) needed[*reference] = true;
  }
  return needed;
}

bool Index::drop_unneeded() {
  if (kept_ == 0) return false;
  const std::vector<bool> wanted = needed([](size_t /*block*/) { return true; });
  if (std::ranges::find(wanted, false) == wanted.end()) return false;
  std::vector<Block> before;
  before.swap(blocks_);
  by_regions_.clear();
  by_sequence_.clear();
  depths_.clear();
  kept_ = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    Block &block = before[i];
    if (!wanted[i]) {
      if (!block.at_home) replaced += block.size;
      continue;
    }
    if (!block.replaced) by_regions_[hash_of(block.regions, 0)] = blocks_.size();
    blocks_.push_back(std::move(block));
    remember(blocks_.size() - 1);
  }
  intervals_.clear();
  known_ = 0;
  return true;
}

uint64_t Index::virtual_end() const { return std::max<uint64_t>(virtual_end_, header.size()); }

std::vector<size_t> Index::find(std::span<const Region> regions) const {
  std::vector<Interval> added;
  for (; known_ < blocks_.size(); ++known_) added.push_back({blocks_[known_].begin(), blocks_[known_].end(), known_});
  intervals_.add(std::move(added));
  std::vector<size_t> found;
  std::vector<size_t> near;
  for (const Region &region : regions) {
    near.clear();
    intervals_.find(region.offset, region.end(), &near);
    for (const size_t block : near) {
      if (blocks_[block].replaced) continue;
      if (std::ranges::any_of(blocks_[block].regions, [&](const Region &r) { return overlap(r, region); }))
        found.push_back(block);
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::ranges::stable_sort(found, {}, [this](size_t i) { return blocks_[i].sequence; });
  return found;
}

Bytes pack(std::span<const Block> blocks) {
  ByteWriter out;
  pack_blocks(blocks, &out);
  return out.take();
}

Result<std::vector<Block>> unpack_blocks(ByteView bytes) {
  ByteReader in(bytes);
  return read_blocks(&in);
}

Bytes pack(const Index &index) {
  ByteWriter out;
  out.blob(index.header);
  out.varint(index.user_codecs.size());
  for (const std::string &name : index.user_codecs) out.text(name);
  out.varint(index.data_begin);
  out.varint(index.home);
  out.varint(index.home_end);
  out.varint(index.end);
  out.varint(index.replaced);
  pack_blocks(index.blocks(), &out);
  const uint8_t codecs[] = {codec::kZstd};
  const codec::Encoded packed = codec::smallest(out.view(), codecs);
  ByteWriter whole;
  whole.varint(kFormat);
  whole.byte(packed.codec);
  whole.varint(out.size());
  whole.raw(packed.bytes);
  return whole.take();
}

Result<Index> unpack_index(ByteView bytes) {
  ByteReader front(bytes);
  const uint64_t format = front.varint();
  if (!front.failed() && format > kFormat) {
    return fail(
        ErrorKind::unreadable,
        "its arrays are of format " + std::to_string(format) + "; this Cairn reads up to " + std::to_string(kFormat),
        "use a newer Cairn");
  }
  const uint8_t codec = front.byte();
  const uint64_t size = front.varint();
  Bytes plain;
  if (front.failed() || !codec::decode(codec, bytes.subspan(front.position()), size, &plain)) {
    return fail(ErrorKind::unreadable, "the index of blocks is damaged");
  }
  ByteReader in(plain);
  Index index;
  const ByteView header = in.blob();
  index.header.assign(header.begin(), header.end());
  const uint64_t users = in.varint();
  for (uint64_t i = 0; i < users && !in.failed(); ++i) index.user_codecs.emplace_back(in.text());
  index.data_begin = in.varint();
  index.home = in.varint();
  index.home_end = in.varint();
  index.end = in.varint();
  const uint64_t replaced = in.varint();
  if (in.failed()) return fail(ErrorKind::unreadable, "the index of blocks is cut short");
  if (std::max({index.data_begin, index.home, index.home_end, index.end}) > kMostOffset)
    return fail(ErrorKind::unreadable, "the index of blocks is damaged");
  Result<std::vector<Block>> blocks = read_blocks(&in);
  if (!blocks) return tl::unexpected(blocks.error());
  for (Block &block : *blocks) {
    if (!index.add(std::move(block)))
      return fail(ErrorKind::unreadable, "the index of blocks is damaged: a block is coded against none that is there");
  }
  index.replaced = replaced;
  return index;
}

}  // namespace cairn::arrays
