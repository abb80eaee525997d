#include "arrays/file/index.h"

#include <algorithm>
#include <cassert>

namespace cairn::arrays {
namespace {

constexpr size_t kFewPending = 64;  // segments of lists that are told apart though the lists are there

bool is_first(const Segment &segment) { return segment.first; }

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
      for (Block &block : found->blocks) {
        block.chained = segment.first;
        added = added && insert(std::move(block));
      }
    }
    if (added) continue;
    done = found ? without_reference() : tl::unexpected(found.error());
    left.push_back(std::move(segment));
  }
  pending_ = std::move(left);
  return done;
}

Result<void> Index::load(std::span<const Region> regions, const ReadPlace &read) {
  return load_those([&](const Segment &segment) { return segment.touches(regions); }, read);
}

Result<void> Index::load_first(const ReadPlace &read) { return load_those(&is_first, read); }

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
  pending_.insert(pending_.end(), segments.begin(), segments.end());
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
  pending_ = segments_;
  std::erase_if(pending_, is_first);
  listed_.clear();
  replaced -= replaced_but_filed_;  // found again when it is loaded
  replaced_but_filed_ = 0;
  rebuild();
  return true;
}

}  // namespace cairn::arrays
