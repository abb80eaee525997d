#include "arrays/file/segment.h"

#include <algorithm>

#include "base/hash.h"

namespace cairn::arrays {
namespace {

constexpr uint8_t kOfSegments = 1;  // flags of a segment
constexpr uint8_t kRefers = 2;
constexpr uint8_t kMoved = 4;
constexpr uint8_t kFirst = 8;

bool no_list_takes(const Segment &segment) { return segment.list || segment.first; }

/// Few stretches that hold all of these: united where they touch, then across what is least between them.
std::vector<Run> few_of(std::vector<Run> stretches) {
  unite(&stretches);
  if (stretches.size() <= Segment::kMostStretches) return stretches;
  std::vector<uint64_t> gaps;
  for (size_t i = 1; i < stretches.size(); ++i) gaps.push_back(stretches[i].offset - stretches[i - 1].end());
  std::ranges::nth_element(gaps, gaps.begin() + (Segment::kMostStretches - 2), std::greater<>());
  const uint64_t least = gaps[Segment::kMostStretches - 2];  // the least of the gaps that stay, if no others equal it
  std::vector<Run> few = {stretches[0]};
  for (size_t i = 1; i < stretches.size(); ++i) {
    const bool apart = stretches[i].offset - few.back().end() >= least && few.size() < Segment::kMostStretches;
    if (apart) {
      few.push_back(stretches[i]);
    } else {
      few.back().bytes = stretches[i].end() - few.back().offset;
    }
  }
  return few;
}

void put_in(Bytes bytes, uint64_t at, Segment *segment, Bytes *out) {
  segment->offset = at + out->size();
  segment->size = bytes.size();
  segment->checksum = hash64(bytes);
  out->insert(out->end(), bytes.begin(), bytes.end());
}

/// How many of the blocks, which come by their begins, make a segment: as many as there may be, but not from many more
/// places than it can tell, unless there are few in each.
size_t length_of(std::span<const Block *const> blocks, const IndexSizes &sizes) {
  size_t stretches = 0;
  uint64_t reached = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool apart = i == 0 || blocks[i]->begin() > reached;
    if (i == sizes.segment) return i;
    if (apart && stretches >= Segment::kMostStretches && i >= sizes.segment / 4) return i;
    if (apart) ++stretches;
    reached = std::max(reached, blocks[i]->end());
  }
  return blocks.size();
}

Segment described(std::span<const Block *const> blocks) {
  Segment segment;
  segment.blocks = blocks.size();
  std::vector<Run> runs;
  runs.reserve(blocks.size());
  for (const Block *block : blocks) {
    segment.newest = std::max(segment.newest, block->sequence);
    runs.push_back({block->begin(), block->end() - block->begin()});
  }
  segment.stretches = few_of(std::move(runs));
  return segment;
}

Segment listed(std::span<const Segment> segments) {
  Segment list;
  list.list = true;
  std::vector<Run> runs;
  for (const Segment &segment : segments) {
    list.newest = std::max(list.newest, segment.newest);
    list.blocks += segment.blocks;
    runs.insert(runs.end(), segment.stretches.begin(), segment.stretches.end());
  }
  list.stretches = few_of(std::move(runs));
  return list;
}

bool unpack_segment(const Segment &before, ByteReader *in, Segment *segment) {
  const uint8_t flags = in->byte();
  if (flags > (kOfSegments | kRefers | kMoved | kFirst) || (flags & (kOfSegments | kFirst)) == (kOfSegments | kFirst))
    return false;
  segment->list = (flags & kOfSegments) != 0;
  segment->referring = (flags & kRefers) != 0;
  segment->first = (flags & kFirst) != 0;
  segment->offset = before.offset + before.size + static_cast<uint64_t>(in->signed_varint());
  segment->size = in->varint();
  segment->checksum = in->fixed64();
  segment->blocks = in->varint();
  segment->newest = before.newest + static_cast<uint64_t>(in->signed_varint());
  if ((flags & kMoved) != 0) segment->moved = static_cast<uint64_t>(in->signed_varint());
  const uint64_t stretches = in->varint();
  if (in->failed() || stretches == 0 || stretches > Segment::kMostStretches) return false;
  uint64_t from = 0;
  for (uint64_t i = 0; i < stretches; ++i) {
    const uint64_t gap = in->varint();
    const uint64_t bytes = in->varint();
    if (gap > kMostOffset || bytes == 0 || bytes > kMostOffset || from + gap + bytes > kMostOffset) return false;
    segment->stretches.push_back({from + gap, bytes});
    from += gap + bytes;
  }
  return !in->failed() && segment->offset <= kMostOffset && segment->size <= kMostOffset &&
         segment->blocks <= kMostOffset;
}

}  // namespace

bool Segment::touches(std::span<const Region> regions) const {
  return std::ranges::any_of(regions, [&](const Region &region) {
    return std::ranges::any_of(stretches,
                               [&](const Run &s) { return s.offset < region.end() && region.offset < s.end(); });
  });
}

Filing file_blocks(std::vector<const Block *> blocks, uint64_t at, const IndexSizes &sizes, bool first) {
  Filing filing;
  if (!first) std::ranges::stable_sort(blocks, {}, [](const Block *block) { return block->begin(); });
  const std::span<const Block *const> all = blocks;
  for (size_t from = 0, count = 0; from < all.size(); from += count) {
    count = first ? std::min<size_t>(sizes.segment, all.size() - from) : length_of(all.subspan(from), sizes);
    const auto some = all.subspan(from, count);
    Segment segment = described(some);
    segment.first = first;
    put_in(pack_columns(some), at, &segment, &filing.bytes);
    filing.segments.push_back(std::move(segment));
  }
  return filing;
}

size_t behind_lists(std::span<const Segment> segments) {
  return static_cast<size_t>(std::find_if(segments.rbegin(), segments.rend(), &no_list_takes) - segments.rbegin());
}

void file_segments(std::vector<Segment> *segments, uint64_t at, const IndexSizes &sizes, Bytes *bytes) {
  for (size_t behind = behind_lists(*segments); behind >= sizes.list(); behind = behind_lists(*segments)) {
    const auto first = segments->end() - static_cast<ptrdiff_t>(behind);
    const auto last = first + static_cast<ptrdiff_t>(sizes.list());
    Segment list = listed({first, last});
    ByteWriter out;
    pack({first, last}, &out);
    put_in(out.take(), at, &list, bytes);
    *first = std::move(list);
    segments->erase(first + 1, last);
  }
}

void pack(std::span<const Segment> segments, ByteWriter *out) {
  out->varint(segments.size());
  const Segment none;
  const Segment *before = &none;
  for (const Segment &segment : segments) {
    out->byte(static_cast<uint8_t>((segment.list ? kOfSegments : 0) | (segment.referring ? kRefers : 0) |
                                   (segment.first ? kFirst : 0) | (segment.moved != 0 ? kMoved : 0)));
    out->signed_varint(static_cast<int64_t>(segment.offset - (before->offset + before->size)));
    out->varint(segment.size);
    out->fixed64(segment.checksum);
    out->varint(segment.blocks);
    out->signed_varint(static_cast<int64_t>(segment.newest - before->newest));
    if (segment.moved != 0) out->signed_varint(static_cast<int64_t>(segment.moved));
    out->varint(segment.stretches.size());
    uint64_t from = 0;
    for (const Run &stretch : segment.stretches) {
      out->varint(stretch.offset - from);
      out->varint(stretch.bytes);
      from = stretch.end();
    }
    before = &segment;
  }
}

Result<std::vector<Segment>> unpack_segments(ByteReader *in) {
  constexpr size_t kLeast = 16;
  const size_t count = in->count(kLeast);
  if (in->failed()) return fail(ErrorKind::unreadable, "the list of segments of the index is cut short");
  std::vector<Segment> segments;
  segments.reserve(count);
  const Segment none;
  for (size_t i = 0; i < count; ++i) {
    Segment segment;
    if (!unpack_segment(segments.empty() ? none : segments.back(), in, &segment))
      return fail(ErrorKind::unreadable, "segment " + std::to_string(i) + " of the index is damaged");
    segments.push_back(std::move(segment));
  }
  return segments;
}

Result<Unfiled> unfile(const Segment &segment, ByteView bytes) {
  const auto bad = fail(ErrorKind::unreadable, "a segment of the index of blocks is damaged (bytes " +
                                                   std::to_string(segment.offset) + " to " +
                                                   std::to_string(segment.offset + segment.size) + ")");
  if (bytes.size() != segment.size || hash64(bytes) != segment.checksum) return bad;
  Unfiled unfiled;
  uint64_t blocks = 0;
  if (segment.list) {
    ByteReader in(bytes);
    Result<std::vector<Segment>> segments = unpack_segments(&in);
    if (!segments) return bad;
    for (Segment &each : *segments) {
      each.offset += segment.moved;
      each.moved += segment.moved;
      blocks += each.blocks;
      if (each.list || each.first || each.offset > kMostOffset || each.blocks > segment.blocks) return bad;
    }
    unfiled.segments = std::move(*segments);
  } else {
    Result<std::vector<Block>> found = unpack_columns(bytes);
    if (!found) return bad;
    for (Block &block : *found) {
      block.filed = true;
      if (!block.at_home) block.offset += segment.moved;
      if (block.offset > kMostOffset) return bad;
    }
    blocks = found->size();
    unfiled.blocks = std::move(*found);
  }
  if (blocks != segment.blocks) return bad;
  return unfiled;
}

}  // namespace cairn::arrays
