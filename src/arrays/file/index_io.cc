// Index: its bytes, in the file and on the way to other processes. docs/arrays.md has them.
#include <algorithm>
#include <unordered_set>

#include "arrays/file/index.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kWhole = 1;      // format: all blocks are in it
constexpr uint64_t kSegmented = 2;  // some are in segments
constexpr uint64_t kChained = 3;    // of which some are to be read first

tl::unexpected<Error> damaged() { return fail(ErrorKind::unreadable, "the index of blocks is damaged"); }

bool refers(const Block &block) { return block.reference != 0; }

}  // namespace

tl::unexpected<Error> without_reference() {
  return fail(ErrorKind::unreadable, "the index of blocks is damaged: a block is coded against none that is there");
}

bool refer_elsewhere(std::span<const Block> blocks, const Index &index) {
  std::unordered_set<uint64_t> among;
  for (const Block &block : blocks) among.insert(block.sequence);
  return std::ranges::any_of(blocks, [&](const Block &block) {
    return refers(block) && !among.contains(block.reference) && !index.holds(block.reference);
  });
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
  out.varint(index.replaced - index.replaced_but_filed_);
  if (!index.segments_.empty()) pack(index.segments_, &out);
  std::vector<const Block *> blocks;
  for (const Block &block : index.blocks_) {
    if (!block.filed) blocks.push_back(&block);
  }
  pack(blocks, &out);
  const bool chained = std::ranges::any_of(index.segments_, &Segment::first);
  ByteWriter whole;
  whole.varint(chained ? kChained : index.segments_.empty() ? kWhole : kSegmented);
  pack_stream(out.view(), &whole);
  return whole.take();
}

Bytes pack_for_others(const Index &index) {
  std::vector<const Block *> first;
  for (const Block &block : index.blocks_) {
    if (block.filed && block.chained) first.push_back(&block);
  }
  ByteWriter out;
  out.blob(pack(index));
  pack(first, &out);
  return out.take();
}

Result<Index::Root> Index::unpack_root(ByteView bytes) {
  ByteReader front(bytes);
  const uint64_t format = front.varint();
  if (!front.failed() && format > kChained) {
    return fail(
        ErrorKind::unreadable,
        "its arrays are of format " + std::to_string(format) + "; this Cairn reads up to " + std::to_string(kChained),
        "use a newer Cairn");
  }
  Bytes plain;
  if (front.failed() || !unpack_stream(bytes.subspan(front.position()), &plain)) return damaged();
  ByteReader in(plain);
  Root root;
  Index &index = root.index;
  const ByteView header = in.blob();
  index.header.assign(header.begin(), header.end());
  const uint64_t users = in.varint();
  for (uint64_t i = 0; i < users && !in.failed(); ++i) index.user_codecs.emplace_back(in.text());
  index.data_begin = in.varint();
  index.home = in.varint();
  index.home_end = in.varint();
  index.end = in.varint();
  root.replaced = in.varint();
  if (in.failed()) return fail(ErrorKind::unreadable, "the index of blocks is cut short");
  if (std::max({index.data_begin, index.home, index.home_end, index.end}) > kMostOffset) return damaged();
  if (format != kWhole) {
    Result<std::vector<Segment>> segments = unpack_segments(&in);
    if (!segments) return tl::unexpected(segments.error());
    index.add_segments(std::move(*segments));
  }
  Result<std::vector<Block>> blocks = unpack_blocks(&in);
  if (!blocks) return tl::unexpected(blocks.error());
  root.blocks = std::move(*blocks);
  const auto chained = [](const Segment &segment) { return segment.first || segment.referring; };
  if (std::ranges::any_of(index.segments_, chained) || std::ranges::any_of(root.blocks, refers)) index.keep_replaced();
  return root;
}

Result<Index> Index::completed(Root root) {
  for (Block &block : root.blocks) {
    if (!root.index.add(std::move(block))) return without_reference();
  }
  root.index.replaced = root.replaced;
  return std::move(root.index);
}

Result<Index> unpack_index(ByteView bytes, const ReadPlace &read) {
  Result<Index::Root> root = Index::unpack_root(bytes);
  if (!root) return tl::unexpected(root.error());
  Index &index = root->index;
  if (!read && std::ranges::any_of(index.segments_, &Segment::first)) return damaged();
  if (auto loaded = index.load_first(read); !loaded) return tl::unexpected(loaded.error());
  // An earlier Cairn coded blocks against those of any segment before them.
  const bool earlier = std::ranges::any_of(index.segments_, &Segment::referring);
  if (!index.whole() && (earlier || refer_elsewhere(root->blocks, index))) {
    if (!read) return damaged();
    if (auto loaded = index.load_all(read); !loaded) return tl::unexpected(loaded.error());
    index.unfile();
  }
  return Index::completed(std::move(*root));
}

Result<Index> unpack_of_others(ByteView bytes) {
  ByteReader in(bytes);
  const ByteView front = in.blob();
  if (in.failed()) return damaged();
  Result<Index::Root> root = Index::unpack_root(front);
  if (!root) return tl::unexpected(root.error());
  Result<std::vector<Block>> first = unpack_blocks(&in);
  if (!first) return tl::unexpected(first.error());
  Index &index = root->index;
  std::erase_if(index.pending_, [](const Segment &segment) { return segment.first; });
  for (Block &block : *first) {
    block.filed = true;
    block.chained = true;
    if (!index.insert(std::move(block))) return without_reference();
  }
  return Index::completed(std::move(*root));
}

}  // namespace cairn::arrays
