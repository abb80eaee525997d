#include "arrays/file/index.h"

#include <algorithm>
#include <cassert>

namespace cairn::arrays {
namespace {

constexpr uint64_t kWhole = 1;      // format: all blocks are in it
constexpr uint64_t kSegmented = 2;  // some are in segments
constexpr size_t kFewPending = 64;  // segments of lists that are told apart though the lists are there

bool refers(const Block &block) { return block.reference != 0; }
bool is_filed(const Block &block) { return block.filed; }
bool unfiled_and_refers(const Block &block) { return refers(block) && !block.filed; }

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
  if (keeping_ && block.filed) {
    // Of a list some may have stayed when others were let go.
    const auto known = by_sequence_.find(block.sequence);
    if (known != by_sequence_.end() && blocks_[known->second].filed && blocks_[known->second].offset == block.offset &&
        blocks_[known->second].regions == block.regions)
      return true;
  }
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
  // What is not here may be coded against any of them.
  if (std::ranges::any_of(pending_, &Segment::referring)) return false;
  const std::vector<bool> wanted = needed([](size_t /*block*/) { return true; });
  if (std::ranges::find(wanted, false) == wanted.end()) return false;
  std::vector<Block> before;
  before.swap(blocks_);
  chained_ = static_cast<size_t>(std::count(wanted.begin(), wanted.begin() + static_cast<ptrdiff_t>(chained_), true));
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

/// Those that are wanted, and all up to the last that has a block coded against another: what that one is coded against
/// is in an earlier segment, and is to be here before it.
template <typename Wanted>
Result<void> Index::load_those(Wanted wanted, const ReadPlace &read) {
  auto referring = std::ranges::count_if(pending_, &Segment::referring);
  if (referring == 0 && std::ranges::none_of(pending_, wanted)) return {};
  const bool chained = referring > 0;
  if (chained) keep_replaced();
  std::vector<Segment> left;
  std::vector<Segment> next(pending_.rbegin(), pending_.rend());  // the oldest is the last
  Result<void> done;
  while (!next.empty()) {
    Segment segment = std::move(next.back());
    next.pop_back();
    if (!done || (referring == 0 && !wanted(segment))) {
      left.push_back(std::move(segment));
      continue;
    }
    if (segment.referring) --referring;
    const Result<Bytes> bytes = read(segment.place());
    Result<Unfiled> found = bytes ? arrays::unfile(segment, *bytes) : Result<Unfiled>(tl::unexpected(bytes.error()));
    if (found && segment.list) {
      for (const Segment &each : found->segments) listed_.push_back(each.place());
      referring += std::ranges::count_if(found->segments, &Segment::referring);
      next.insert(next.end(), found->segments.rbegin(), found->segments.rend());
      continue;
    }
    bool added = found.has_value();
    if (found) {
      for (Block &block : found->blocks) added = added && insert(std::move(block));
    }
    if (added) continue;
    done = found ? fail(ErrorKind::unreadable,
                        "the index of blocks is damaged: a block is coded against none that is there")
                 : tl::unexpected(found.error());
    left.push_back(std::move(segment));
  }
  pending_ = std::move(left);
  if (chained && done) {
    uint64_t named = 0;
    uint64_t before = 0;
    for (const Segment &segment : segments_) {
      // Of a list those that are behind its last such segment may not be here.
      if (segment.referring) named = segment.list ? before : before + segment.blocks;
      before += segment.blocks;
    }
    chained_ = blocks_.size();
    chained_named_ = named;
  }
  return done;
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
  // Where chains have ended, apart from what comes now.
  plan.blocks = plan.anew || blocks_.size() - filed >= sizes.segment ||
                (ended_ && std::ranges::any_of(blocks_, unfiled_and_refers));
  if (!plan.blocks && behind_lists(segments_) < sizes.list()) return std::nullopt;
  std::vector<const Block *> blocks;
  for (const Block &block : blocks_) {
    if (plan.anew || (plan.blocks && !block.filed)) blocks.push_back(&block);
  }
  Filing filing = file_blocks(std::move(blocks), end, sizes);
  if (!plan.anew) plan.segments = segments_;
  plan.segments.insert(plan.segments.end(), filing.segments.begin(), filing.segments.end());
  plan.bytes = std::move(filing.bytes);
  file_segments(&plan.segments, end, sizes, &plan.bytes);
  return plan;
}

void Index::filed(Plan plan) {
  if (plan.anew) {
    replaced_but_filed_ = 0;
    listed_.clear();
  }
  segments_ = std::move(plan.segments);
  if (plan.anew) chained_ = chained_named_ = 0;
  if (plan.blocks && std::ranges::any_of(blocks_, plan.anew ? refers : unfiled_and_refers)) {
    // What is not here stands before blocks that are coded against others: it could not be told from what may go.
    chained_known_ = pending_.empty();
    chained_ = blocks_.size();
    chained_named_ = 0;
    for (const Segment &segment : segments_) chained_named_ += segment.blocks;
  }
  for (Block &block : blocks_) block.filed = block.filed || plan.blocks;
  end += plan.bytes.size();
}

void Index::add_segments(std::vector<Segment> segments) {
  for (const Segment &segment : segments) virtual_end_ = std::max(virtual_end_, segment.stretches.back().end());
  pending_.insert(pending_.end(), segments.begin(), segments.end());
  segments_.insert(segments_.end(), segments.begin(), segments.end());
}

void Index::unfile() {
  assert(whole());
  for (Block &block : blocks_) block.filed = false;
  chained_ = chained_named_ = 0;
  chained_known_ = true;
  segments_.clear();
  listed_.clear();
  replaced_but_filed_ = 0;
}

bool Index::let_go(uint64_t held) {
  const bool many = blocks_.size() > held || pending_.size() > 2 * segments_.size() + kFewPending;
  if ((keeping_ && !ended_) || !chained_known_ || segments_.empty() || !many) return false;
  blocks_.erase(std::remove_if(blocks_.begin() + static_cast<ptrdiff_t>(chained_), blocks_.end(), &is_filed),
                blocks_.end());
  pending_.clear();
  uint64_t named = 0;
  for (const Segment &segment : segments_) {
    named += segment.blocks;
    if (named > chained_named_) pending_.push_back(segment);
  }
  listed_.clear();
  replaced -= replaced_but_filed_;  // found again when it is loaded
  replaced_but_filed_ = 0;
  rebuild();
  return true;
}

/// `all`: with the blocks of segments that are here, and without these.
Bytes Index::packed(bool all) const {
  ByteWriter out;
  out.blob(header);
  out.varint(user_codecs.size());
  for (const std::string &name : user_codecs) out.text(name);
  out.varint(data_begin);
  out.varint(home);
  out.varint(home_end);
  out.varint(end);
  out.varint(all ? replaced : replaced - replaced_but_filed_);
  const std::vector<Segment> &segments = all ? pending_ : segments_;
  const bool segmented = !segments.empty();
  if (segmented) pack(segments, &out);
  std::vector<const Block *> blocks;
  for (const Block &block : blocks_) {
    if (all || !block.filed) blocks.push_back(&block);
  }
  pack(blocks, &out);
  ByteWriter whole;
  whole.varint(segmented ? kSegmented : kWhole);
  pack_stream(out.view(), &whole);
  return whole.take();
}

Bytes pack(const Index &index) { return index.packed(false); }

Bytes pack_for_others(const Index &index) { return index.packed(index.keeping_); }

Result<Index> unpack_index(ByteView bytes, const ReadPlace &read) {
  ByteReader front(bytes);
  const uint64_t format = front.varint();
  if (!front.failed() && format > kSegmented) {
    return fail(
        ErrorKind::unreadable,
        "its arrays are of format " + std::to_string(format) + "; this Cairn reads up to " + std::to_string(kSegmented),
        "use a newer Cairn");
  }
  Bytes plain;
  if (front.failed() || !unpack_stream(bytes.subspan(front.position()), &plain)) {
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
  if (format == kSegmented) {
    Result<std::vector<Segment>> segments = unpack_segments(&in);
    if (!segments) return tl::unexpected(segments.error());
    index.add_segments(std::move(*segments));
  }
  Result<std::vector<Block>> blocks = unpack_blocks(&in);
  if (!blocks) return tl::unexpected(blocks.error());
  // All before the last that is coded against another; without `read` those are among the blocks (pack_for_others).
  const bool some = std::ranges::any_of(index.segments(), &Segment::referring);
  const bool all = read && !index.whole() && std::ranges::any_of(*blocks, refers);
  if (some || std::ranges::any_of(*blocks, refers)) index.keep_replaced();
  if (some && !read) return fail(ErrorKind::unreadable, "the index of blocks is damaged");
  if (some || all) {
    if (auto loaded = all ? index.load_all(read) : index.load({}, read); !loaded) return tl::unexpected(loaded.error());
  }
  for (Block &block : *blocks) {
    if (!index.add(std::move(block)))
      return fail(ErrorKind::unreadable, "the index of blocks is damaged: a block is coded against none that is there");
  }
  index.replaced = replaced;
  return index;
}

}  // namespace cairn::arrays
