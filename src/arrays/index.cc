#include "arrays/index.h"

#include <algorithm>

#include "base/hash.h"
#include "codec/codec.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kFormat = 1;
constexpr uint64_t kMostShape = 64;

uint64_t hash_of(const Regions &regions) {
  ByteWriter out;
  for (const Region &region : regions) {
    out.varint(region.offset);
    out.varint(region.run);
    for (int i = 0; i < region.depth; ++i) {
      out.varint(region.levels[static_cast<size_t>(i)].count);
      out.varint(region.levels[static_cast<size_t>(i)].stride);
    }
  }
  return hash64(out.view());
}

void pack_region(const Region &region, uint64_t from, ByteWriter *out) {
  out->varint(region.offset - from);
  out->varint(region.run);
  out->varint(static_cast<uint64_t>(region.depth));
  for (int i = 0; i < region.depth; ++i) {
    out->varint(region.levels[static_cast<size_t>(i)].count);
    out->varint(region.levels[static_cast<size_t>(i)].stride);
  }
}

constexpr uint64_t kLimit = uint64_t{1} << 60;

/// A region that is in file order and below kLimit, or nothing.
bool unpack_region(uint64_t from, ByteReader *in, Region *region) {
  const uint64_t distance = in->varint();
  region->offset = from + distance;
  region->run = in->varint();
  const uint64_t depth = in->varint();
  // A distance that wraps around would put it before its predecessor.
  if (distance > kLimit || depth > Region::kMostLevels || region->run == 0 || region->offset > kLimit ||
      region->run > kLimit) {
    return false;
  }
  std::array<Level, Region::kMostLevels> levels{};
  for (uint64_t i = 0; i < depth; ++i) levels[i] = {in->varint(), in->varint()};
  for (uint64_t i = depth; i-- > 0;) {
    if (levels[i].count < 2 || levels[i].stride == 0 || levels[i].count > kLimit / levels[i].stride) return false;
    if (!region->repeat(levels[i].count, levels[i].stride) || region->end() > kLimit) return false;
  }
  return !in->failed();
}

void pack_block(const Block &block, const Block &before, ByteWriter *out) {
  out->byte(static_cast<uint8_t>(block.element));
  out->byte(block.codec);
  out->byte(block.at_home ? 1 : 0);
  out->varint(block.regions.size());
  uint64_t from = 0;
  for (const Region &region : block.regions) {
    pack_region(region, from, out);
    from = region.end();
  }
  out->varint(block.shape.size());
  for (const uint64_t length : block.shape) out->varint(length);
  out->signed_varint(static_cast<int64_t>(block.sequence - before.sequence));
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
  if (flags > 1) return false;
  block->at_home = flags == 1;
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
    if (length == 0 || length > kLimit / elements) return false;
    elements *= length;
    block->shape.push_back(length);
  }
  if (elements > kLimit / 8 || elements * codec::size_of(block->element) != bytes) return false;
  block->sequence = before.sequence + static_cast<uint64_t>(in->signed_varint());
  block->offset = before.offset + before.size + static_cast<uint64_t>(in->signed_varint());
  block->size = in->varint();
  block->checksum = in->fixed64();
  if ((block->at_home && block->size > bytes) || bytes > kMostBlock) return false;
  return !in->failed() && block->offset <= kLimit && block->size <= kLimit;
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

void Index::add(Block block) {
  virtual_end_ = std::max(virtual_end_, block.end());
  const auto [known, fresh] = by_regions_.try_emplace(hash_of(block.regions), blocks_.size());
  unsorted_ = true;
  if (fresh) {
    blocks_.push_back(std::move(block));
    return;
  }
  Block &old = blocks_[known->second];
  if (old.regions != block.regions) {  // equal hashes: both stay, the newer is the one that can be replaced
    known->second = blocks_.size();
    blocks_.push_back(std::move(block));
  } else if (block.sequence >= old.sequence) {
    if (!old.at_home) replaced += old.size;
    old = std::move(block);
  } else if (!block.at_home) {
    replaced += block.size;
  }
}

uint64_t Index::virtual_end() const { return std::max<uint64_t>(virtual_end_, header.size()); }

void Index::sort() const {
  sorted_.clear();
  for (size_t i = 0; i < blocks_.size(); ++i) sorted_.push_back({blocks_[i].begin(), blocks_[i].end(), 0, i});
  std::ranges::sort(sorted_, {}, &Interval::begin);
  uint64_t reach = 0;
  for (Interval &interval : sorted_) {
    reach = std::max(reach, interval.end);
    interval.reach = reach;
  }
  unsorted_ = false;
}

std::vector<size_t> Index::find(std::span<const Region> regions) const {
  if (unsorted_) sort();
  std::vector<size_t> found;
  for (const Region &region : regions) {
    auto at = std::ranges::lower_bound(sorted_, region.end(), {}, &Interval::begin);
    while (at != sorted_.begin()) {
      --at;
      if (at->reach <= region.offset) break;
      if (at->end <= region.offset) continue;
      if (std::ranges::any_of(blocks_[at->block].regions, [&](const Region &r) { return overlap(r, region); })) {
        found.push_back(at->block);
      }
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
  if (std::max({index.data_begin, index.home, index.home_end, index.end}) > kLimit)
    return fail(ErrorKind::unreadable, "the index of blocks is damaged");
  Result<std::vector<Block>> blocks = read_blocks(&in);
  if (!blocks) return tl::unexpected(blocks.error());
  for (Block &block : *blocks) index.add(std::move(block));
  index.replaced = replaced;
  return index;
}

}  // namespace cairn::arrays
