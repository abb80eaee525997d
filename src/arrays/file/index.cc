#include "arrays/file/index.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <unordered_set>

namespace cairn::arrays {
namespace {

constexpr uint64_t kWhole = 1;      // format: all blocks are in it
constexpr uint64_t kSegmented = 2;  // some are in segments
constexpr uint64_t kChained = 3;    // of which some are to be read first
constexpr size_t kFewPending = 64;  // segments of lists that are told apart though the lists are there

Error damaged() { return {ErrorKind::unreadable, "the index of blocks is damaged", "", Error::kNoOffset, ""}; }
Error without_reference() {
  return {ErrorKind::unreadable, "the index of blocks is damaged: a block is coded against none that is there", "",
          Error::kNoOffset, ""};
}

}  // namespace

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
  for (Run &place : listed_) shift(&place.offset);
  for (std::vector<Segment> *segments : {&segments_, &pending_}) {
    for (Segment &segment : *segments) {
      shift(&segment.offset);
      segment.moved += by;
    }
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

/// A block that nobody needs any more.
void Index::forget(const Block &block) {
  if (block.at_home) return;
  replaced += block.size;
  if (block.filed) replaced_but_filed_ += block.size;
}

/// Whether the newer of two blocks over the same regions took the place of the older, wholly.
bool Index::replace(size_t known, Block &block) {
  Block &old = blocks_[known];
  // Of two with one number the later; what is loaded is earlier than what is not filed yet.
  const bool newer = block.sequence > old.sequence || (block.sequence == old.sequence && (old.filed || !block.filed));
  if (keeping_) {
    (newer ? old : block).replaced = true;
    if (newer) ++kept_;
    return false;
  }
  forget(newer ? old : block);
  if (newer) old = std::move(block);
  return true;
}

bool Index::add(Block block) {
  block.filed = false;  // wherever it comes from: not in a segment of this index
  return insert(std::move(block));
}

bool Index::insert(Block block) {
  if (block.reference != 0 || block.replaced) {
    keep_replaced();
    const std::optional<size_t> reference = reference_of(block);
    if (block.reference != 0 && (!reference || blocks_[*reference].element != block.element ||
                                 blocks_[*reference].bytes() != block.bytes() || depths_[*reference] >= kMostChain))
      return false;
    if (reference) block.chained = blocks_[*reference].chained = true;
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

/// Everything that follows from the blocks.
void Index::rebuild() {
  by_regions_.clear();
  by_sequence_.clear();
  depths_.clear();
  kept_ = 0;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (!blocks_[i].replaced) by_regions_[hash_of(blocks_[i].regions, 0)] = i;
    if (keeping_) remember(i);
  }
  intervals_.clear();
  known_ = 0;
}

bool Index::drop_unneeded() {
  if (kept_ == 0) return false;
  const std::vector<bool> wanted = needed([](size_t /*block*/) { return true; });
  if (std::ranges::find(wanted, false) == wanted.end()) return false;
  std::vector<Block> before;
  before.swap(blocks_);
  for (size_t i = 0; i < before.size(); ++i) {
    if (wanted[i]) {
      blocks_.push_back(std::move(before[i]));
    } else {
      forget(before[i]);
    }
  }
  rebuild();
  return true;
}

uint64_t Index::virtual_end() const { return std::max<uint64_t>(virtual_end_, header.size()); }

uint64_t Index::named() const {
  uint64_t named = 0;
  for (const Block &block : blocks_) named += block.filed ? 0 : 1;
  for (const Segment &segment : segments_) named += segment.blocks;
  return named;
}

uint64_t Index::newest() const {
  uint64_t newest = 0;
  for (const Block &block : blocks_) newest = std::max(newest, block.sequence);
  for (const Segment &segment : segments_) newest = std::max(newest, segment.newest);
  return newest;
}

std::vector<size_t> Index::find(std::span<const Region> regions) const {
  assert(std::ranges::none_of(pending_, [&](const Segment &segment) { return segment.touches(regions); }));
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

std::vector<Run> Index::segment_places() const {
  std::vector<Run> places = listed_;
  for (const Segment &segment : segments_) places.push_back(segment.place());
  return places;
}

template <typename Wanted>
Result<void> Index::load_those(Wanted wanted, const ReadPlace &read) {
  if (std::ranges::none_of(pending_, wanted)) return {};
  std::vector<Segment> left;
  std::vector<Segment> next(pending_.rbegin(), pending_.rend());  // the oldest is the last
  Result<void> done;
  while (!next.empty()) {
    Segment segment = std::move(next.back());
    next.pop_back();
    if (!done || !wanted(segment)) {
      left.push_back(std::move(segment));
      continue;
    }
    const Result<Bytes> bytes = read(segment.place());
    Result<Unfiled> found = bytes ? arrays::unfile(segment, *bytes) : Result<Unfiled>(tl::unexpected(bytes.error()));
    if (found && segment.list) {
      for (const Segment &each : found->segments) listed_.push_back(each.place());
      next.insert(next.end(), found->segments.rbegin(), found->segments.rend());
      continue;
    }
    bool added = found.has_value();
    if (found) {
      for (Block &block : found->blocks) added = added && insert(std::move(block));
    }
    if (added) continue;
    done = tl::unexpected(found ? without_reference() : found.error());
    left.push_back(std::move(segment));
  }
  pending_ = std::move(left);
  return done;
}

/// Blocks of segments that are read first, in their order.
bool Index::insert_first(std::vector<Block> blocks) {
  keep_replaced();
  for (Block &block : blocks) {
    block.filed = true;
    block.chained = true;
    if (!insert(std::move(block))) return false;
  }
  return true;
}

Result<void> Index::load_first(const ReadPlace &read) {
  for (const Segment &segment : segments_) {
    if (!segment.first) continue;
    const Result<Bytes> bytes = read ? read(segment.place()) : Result<Bytes>(tl::unexpected(damaged()));
    if (!bytes) return tl::unexpected(bytes.error());
    Result<Unfiled> found = arrays::unfile(segment, *bytes);
    if (!found) return tl::unexpected(found.error());
    if (!insert_first(std::move(found->blocks))) return tl::unexpected(without_reference());
  }
  return {};
}

Result<void> Index::load(std::span<const Region> regions, const ReadPlace &read) {
  return load_those([&](const Segment &segment) { return segment.touches(regions); }, read);
}

Result<void> Index::load_all(const ReadPlace &read) {
  return load_those([](const Segment & /*segment*/) { return true; }, read);
}

std::optional<Index::Plan> Index::plan(const IndexSizes &sizes) const {
  uint64_t filed = 0;
  for (const Block &block : blocks_) filed += block.filed ? 1 : 0;
  uint64_t named = 0;
  for (const Segment &segment : segments_) named += segment.blocks;
  Plan plan;
  plan.anew = whole() && named > 2 * filed + 4 * sizes.segment;
  plan.blocks = plan.anew || blocks_.size() - filed >= sizes.segment;
  if (!plan.blocks && behind_lists(segments_) < sizes.list()) return std::nullopt;
  plan.chained = keeping_ && !ended_;
  std::vector<const Block *> first;
  std::vector<const Block *> others;
  for (const Block &block : blocks_) {
    if (plan.anew || (plan.blocks && !block.filed)) (plan.chained || block.chained ? first : others).push_back(&block);
  }
  Filing filing = file_blocks(std::move(first), end, sizes, true);
  if (!plan.anew) plan.segments = segments_;
  const auto behind = std::ranges::find_if_not(plan.segments, &Segment::first);
  plan.segments.insert(behind, filing.segments.begin(), filing.segments.end());
  plan.bytes = std::move(filing.bytes);
  filing = file_blocks(std::move(others), end + plan.bytes.size(), sizes);
  plan.segments.insert(plan.segments.end(), filing.segments.begin(), filing.segments.end());
  plan.bytes.insert(plan.bytes.end(), filing.bytes.begin(), filing.bytes.end());
  file_segments(&plan.segments, end, sizes, &plan.bytes);
  return plan;
}

void Index::filed(Plan plan) {
  if (plan.anew) {
    replaced_but_filed_ = 0;
    listed_.clear();
  }
  segments_ = std::move(plan.segments);
  for (Block &block : blocks_) {
    block.chained = block.chained || (plan.chained && plan.blocks && (plan.anew || !block.filed));
    block.filed = block.filed || plan.blocks;
  }
  end += plan.bytes.size();
}

void Index::add_segments(std::vector<Segment> segments) {
  for (const Segment &segment : segments) virtual_end_ = std::max(virtual_end_, segment.stretches.back().end());
  std::ranges::copy_if(segments, std::back_inserter(pending_), std::not_fn(&Segment::first));
  segments_.insert(segments_.end(), segments.begin(), segments.end());
}

void Index::unfile() {
  assert(whole());
  for (Block &block : blocks_) block.filed = false;
  segments_.clear();
  listed_.clear();
  replaced_but_filed_ = 0;
}

bool Index::let_go(uint64_t held) {
  const bool many = blocks_.size() > held || pending_.size() > 2 * segments_.size() + kFewPending;
  if ((keeping_ && !ended_) || segments_.empty() || !many) return false;
  std::erase_if(blocks_, [](const Block &block) { return block.filed && !block.chained; });
  pending_.clear();
  std::ranges::copy_if(segments_, std::back_inserter(pending_), std::not_fn(&Segment::first));
  listed_.clear();
  replaced -= replaced_but_filed_;  // found again when it is loaded
  replaced_but_filed_ = 0;
  rebuild();
  return true;
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

bool refer_elsewhere(std::span<const Block> blocks, const Index &index) {
  std::unordered_set<uint64_t> among;
  for (const Block &block : blocks) among.insert(block.sequence);
  return std::ranges::any_of(blocks, [&](const Block &block) {
    return block.reference != 0 && !among.contains(block.reference) && !index.holds(block.reference);
  });
}

/// Without the blocks of any segment; `blocks` are those that it names itself.
Result<Index> Index::unpack_root(ByteView bytes, std::vector<Block> *blocks) {
  ByteReader front(bytes);
  const uint64_t format = front.varint();
  if (!front.failed() && format > kChained) {
    return fail(
        ErrorKind::unreadable,
        "its arrays are of format " + std::to_string(format) + "; this Cairn reads up to " + std::to_string(kChained),
        "use a newer Cairn");
  }
  Bytes plain;
  if (front.failed() || !unpack_stream(bytes.subspan(front.position()), &plain)) return tl::unexpected(damaged());
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
  index.replaced = in.varint();
  if (in.failed()) return fail(ErrorKind::unreadable, "the index of blocks is cut short");
  if (std::max({index.data_begin, index.home, index.home_end, index.end}) > kMostOffset)
    return tl::unexpected(damaged());
  if (format != kWhole) {
    Result<std::vector<Segment>> segments = unpack_segments(&in);
    if (!segments) return tl::unexpected(segments.error());
    index.add_segments(std::move(*segments));
  }
  Result<std::vector<Block>> named = unpack_blocks(&in);
  if (!named) return tl::unexpected(named.error());
  *blocks = std::move(*named);
  return index;
}

namespace {

Result<void> add_all(std::vector<Block> blocks, Index *index) {
  const uint64_t replaced = index->replaced;
  for (Block &block : blocks) {
    if (!index->add(std::move(block))) return tl::unexpected(without_reference());
  }
  index->replaced = replaced;
  return {};
}

}  // namespace

Result<Index> unpack_index(ByteView bytes, const ReadPlace &read) {
  std::vector<Block> blocks;
  Result<Index> index = Index::unpack_root(bytes, &blocks);
  if (!index) return index;
  const bool earlier = std::ranges::any_of(index->segments_, &Segment::referring);
  if (earlier || std::ranges::any_of(blocks, [](const Block &block) { return block.reference != 0; }))
    index->keep_replaced();
  const uint64_t replaced = index->replaced;
  if (auto loaded = index->load_first(read); !loaded) return tl::unexpected(loaded.error());
  // An earlier Cairn coded blocks against those of any segment before them.
  if (!index->whole() && (earlier || refer_elsewhere(blocks, *index))) {
    if (!read) return tl::unexpected(damaged());
    if (auto loaded = index->load_all(read); !loaded) return tl::unexpected(loaded.error());
    index->unfile();
  }
  index->replaced = replaced;
  if (auto added = add_all(std::move(blocks), &*index); !added) return tl::unexpected(added.error());
  return index;
}

Result<Index> unpack_of_others(ByteView bytes) {
  ByteReader in(bytes);
  const ByteView root = in.blob();
  if (in.failed()) return tl::unexpected(damaged());
  std::vector<Block> blocks;
  Result<Index> index = Index::unpack_root(root, &blocks);
  if (!index) return index;
  Result<std::vector<Block>> first = unpack_blocks(&in);
  if (!first) return tl::unexpected(first.error());
  const uint64_t replaced = index->replaced;
  if (!first->empty() && !index->insert_first(std::move(*first))) return tl::unexpected(without_reference());
  index->replaced = replaced;
  if (auto added = add_all(std::move(blocks), &*index); !added) return tl::unexpected(added.error());
  return index;
}

}  // namespace cairn::arrays
