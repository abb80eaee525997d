#include "arrays/file/region.h"

#include <algorithm>

#include "base/hash.h"

namespace cairn::arrays {
namespace {

/// What stands inside level `level`: the region of one of its iterations.
Region inside(const Region &region, int level) {
  Region inner = region;
  inner.depth = region.depth - level - 1;
  std::copy(region.levels.begin() + level + 1, region.levels.begin() + region.depth, inner.levels.begin());
  return inner;
}

/// Levels that are none are left out, so that equal sets of bytes are equal regions.
void normalise(Region *region) {
  int kept = 0;
  for (int i = 0; i < region->depth; ++i) {
    const Level level = region->levels[static_cast<size_t>(i)];
    if (level.count == 1) continue;
    if (kept > 0) {
      Level &outer = region->levels[static_cast<size_t>(kept - 1)];
      if (outer.stride == level.stride * level.count) {
        outer = {outer.count * level.count, level.stride};
        continue;
      }
    }
    region->levels[static_cast<size_t>(kept++)] = level;
  }
  while (kept > 0 && region->levels[static_cast<size_t>(kept - 1)].stride == region->run) {
    region->run *= region->levels[static_cast<size_t>(--kept)].count;
  }
  region->depth = kept;
  std::fill(region->levels.begin() + kept, region->levels.end(), Level{});
}

/// Whether two regions step from record to record in other parts of them: variables of a file mostly do, and it takes
/// no walk along all records to see it.
bool interleaved(const Region &a, const Region &b) {
  if (a.depth == 0 || b.depth == 0 || a.levels[0].stride != b.levels[0].stride) return false;
  const uint64_t stride = a.levels[0].stride;
  const uint64_t in_a = inside(a, 0).end() - a.offset;
  const uint64_t in_b = inside(b, 0).end() - b.offset;
  const uint64_t behind =
      b.offset >= a.offset ? (b.offset - a.offset) % stride : (stride - (a.offset - b.offset) % stride) % stride;
  return in_a <= behind && behind + in_b <= stride;
}

bool same_shape(const Region &a, const Region &b) {
  return a.run == b.run && a.depth == b.depth && a.levels == b.levels;
}

/// One pass: stretches of regions of one shape at one distance become one region.
Regions fold_once(std::span<const Region> regions) {
  Regions folded;
  for (size_t i = 0; i < regions.size();) {
    Region region = regions[i];
    size_t j = i + 1;
    if (j < regions.size() && region.depth == 0 && regions[j].depth == 0 && regions[j].offset == region.end()) {
      // Neighbours without a gap are one run.
      for (; j < regions.size() && regions[j].depth == 0 && regions[j].offset == region.end(); ++j)
        region.run += regions[j].run;
    } else if (j < regions.size() && same_shape(region, regions[j]) && regions[j].offset > region.offset) {
      const uint64_t stride = regions[j].offset - region.offset;
      while (j < regions.size() && same_shape(region, regions[j]) &&
             regions[j].offset - regions[j - 1].offset == stride)
        ++j;
      if (!region.repeat(j - i, stride)) j = i + 1;
    }
    folded.push_back(region);
    i = j;
  }
  return folded;
}

}  // namespace

uint64_t Region::runs() const {
  uint64_t runs = 1;
  for (int i = 0; i < depth; ++i) runs *= levels[static_cast<size_t>(i)].count;
  return runs;
}

uint64_t Region::end() const {
  uint64_t last = offset + run;
  for (int i = 0; i < depth; ++i) {
    const Level &level = levels[static_cast<size_t>(i)];
    last += (level.count - 1) * level.stride;
  }
  return last;
}

bool Region::repeat(uint64_t count, uint64_t stride) {
  if (count == 1) return true;
  if (count == 0 || stride < end() - offset) return false;
  if (depth == kMostLevels) return false;
  std::copy_backward(levels.begin(), levels.begin() + depth, levels.begin() + depth + 1);
  levels[0] = {count, stride};
  ++depth;
  normalise(this);
  return true;
}

void unite(std::vector<Run> *runs, uint64_t near) {
  std::ranges::sort(*runs, {}, &Run::offset);
  size_t kept = 0;
  for (const Run &each : *runs) {
    if (kept > 0 && each.offset <= (*runs)[kept - 1].end() + near) {
      Run &last = (*runs)[kept - 1];
      last.bytes = std::max(last.end(), each.end()) - last.offset;
    } else {
      (*runs)[kept++] = each;
    }
  }
  runs->resize(kept);
}

uint64_t bytes_of(std::span<const Region> regions) {
  uint64_t bytes = 0;
  for (const Region &region : regions) bytes += region.bytes();
  return bytes;
}

void cut(const Region &region, uint64_t from, uint64_t bytes, Regions *out) {
  if (bytes == 0) return;
  if (from == 0 && bytes == region.bytes()) {
    out->push_back(region);
    return;
  }
  if (region.depth == 0) {
    Region piece;
    piece.offset = region.offset + from;
    piece.run = bytes;
    out->push_back(piece);
    return;
  }
  const Region inner = inside(region, 0);
  const Level level = region.levels[0];
  const uint64_t each = inner.bytes();
  const auto iteration = [&](uint64_t i) {
    Region one = inner;
    one.offset += i * level.stride;
    return one;
  };
  uint64_t first = from / each;
  const uint64_t skipped = from % each;
  if (skipped != 0) {
    const uint64_t head = std::min(each - skipped, bytes);
    cut(iteration(first++), skipped, head, out);
    bytes -= head;
  }
  const uint64_t whole = bytes / each;
  if (whole > 0) {
    Region middle = region;
    middle.offset += first * level.stride;
    middle.levels[0].count = whole;
    normalise(&middle);
    out->push_back(middle);
    first += whole;
    bytes -= whole * each;
  }
  if (bytes > 0) cut(iteration(first), 0, bytes, out);
}

Regions cut(std::span<const Region> regions, uint64_t from, uint64_t bytes) {
  Regions pieces;
  for (const Region &region : regions) {
    if (bytes == 0) break;
    const uint64_t size = region.bytes();
    if (from >= size) {
      from -= size;
      continue;
    }
    const uint64_t taken = std::min(size - from, bytes);
    cut(region, from, taken, &pieces);
    from = 0;
    bytes -= taken;
  }
  return pieces;
}

Regions fold(std::span<const Region> regions) {
  Regions folded(regions.begin(), regions.end());
  while (folded.size() > 1) {
    Regions fewer = fold_once(folded);
    if (fewer.size() == folded.size()) break;
    folded = std::move(fewer);
  }
  return folded;
}

void RunCursor::place() {
  run_.offset = region_->offset;
  number_ = 0;
  for (int i = 0; i < region_->depth; ++i) {
    const Level &level = region_->levels[static_cast<size_t>(i)];
    run_.offset += index_[static_cast<size_t>(i)] * level.stride;
    number_ = number_ * level.count + index_[static_cast<size_t>(i)];
  }
}

void RunCursor::next() {
  ++number_;
  for (int i = region_->depth - 1; i >= 0; --i) {
    const Level &level = region_->levels[static_cast<size_t>(i)];
    uint64_t &index = index_[static_cast<size_t>(i)];
    if (++index < level.count) {
      run_.offset += level.stride;
      return;
    }
    run_.offset -= (level.count - 1) * level.stride;
    index = 0;
  }
  done_ = true;
}

void RunCursor::seek(uint64_t offset) {
  if (done_ || run_.end() > offset) return;
  uint64_t rest = offset - region_->offset;
  for (int i = 0; i < region_->depth; ++i) {
    const Level &level = region_->levels[static_cast<size_t>(i)];
    const uint64_t index = std::min(rest / level.stride, level.count - 1);
    index_[static_cast<size_t>(i)] = index;
    rest -= index * level.stride;
  }
  place();
  if (rest >= run_.bytes) next();
}

bool overlap(const Region &a, const Region &b) {
  if (a.offset >= b.end() || b.offset >= a.end()) return false;
  if (interleaved(a, b)) return false;
  bool common = false;
  for_each_common(a, b, [&](uint64_t, uint64_t, uint64_t) {
    common = true;
    return false;
  });
  return common;
}

void pack(const Region &region, uint64_t from, ByteWriter *out) {
  out->varint(region.offset - from);
  out->varint(region.run);
  out->varint(static_cast<uint64_t>(region.depth));
  for (int i = 0; i < region.depth; ++i) {
    out->varint(region.levels[static_cast<size_t>(i)].count);
    out->varint(region.levels[static_cast<size_t>(i)].stride);
  }
}

uint64_t hash_of(std::span<const Region> regions, uint64_t from) {
  ByteWriter out;
  for (const Region &region : regions) pack(region, from, &out);
  return hash64(out.view());
}

}  // namespace cairn::arrays
