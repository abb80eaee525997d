#include "arrays/file/references.h"

#include <algorithm>
#include <utility>

#include "arrays/codec/array_codec.h"
#include "base/hash.h"

namespace cairn::arrays {
namespace {

/// Bytes from one index of the first dimension to the next; 0 for variables that have but one dimension without being
/// records: their next element is no next step.
uint64_t step_of(const Header &header, const Variable &variable) {
  if (variable.record) return header.record_size;
  if (variable.shape.size() < 2) return 0;
  return variable.slab / variable.shape[0];
}

/// Whether `later` is `earlier` moved by whole steps.
bool moved(const Regions &earlier, const Regions &later, uint64_t step) {
  if (earlier.size() != later.size() || later.front().offset <= earlier.front().offset) return false;
  const uint64_t distance = later.front().offset - earlier.front().offset;
  if (distance % step != 0) return false;
  return std::equal(earlier.begin(), earlier.end(), later.begin(), [&](Region a, const Region &b) {
    a.offset += distance;
    return a == b;
  });
}

}  // namespace

std::optional<References::Box> References::box_of(const Header &header, int variable, const Regions &regions) const {
  if (chain_ == 0 || variable < 0) return std::nullopt;
  const Variable &owner = header.variables[static_cast<size_t>(variable)];
  const uint64_t step = step_of(header, owner);
  if (step == 0) return std::nullopt;
  const uint64_t begin = regions.front().offset;
  ByteWriter out;
  out.varint(static_cast<uint64_t>(variable));
  out.varint((begin - owner.begin) % step);
  out.fixed64(hash_of(regions, begin));
  return Box{hash64(out.view()), step};
}

References::Earlier References::find(const Header &header, int variable, const Regions &regions,
                                     codec::Element element) {
  const std::optional<Box> box = box_of(header, variable, regions);
  const auto known = box ? kept_.find(box->key) : kept_.end();
  if (known == kept_.end()) return {};
  Kept &kept = known->second;
  kept.used = ++clock_;
  if (kept.depth >= chain_ || kept.element != element || !moved(kept.regions, regions, box->step)) return {};
  return {kept.sequence, kept.checksum, kept.values};
}

template <typename Gone>
void References::drop_if(Gone gone) {
  std::erase_if(kept_, [&](const auto &each) {
    if (!gone(each.second)) return false;
    bytes_ -= each.second.values->size();
    return true;
  });
}

void References::keep_those_of(const Index &index) {
  drop_if([&](const Kept &each) { return !index.holds(each.sequence); });
}

void References::make_room(uint64_t bytes) {
  if (bytes_ + bytes <= kMost) return;
  const uint64_t seen = 2 * kept_.size();
  drop_if([&](const Kept &each) { return each.used + seen < clock_; });
}

void References::keep(const Header &header, int variable, const Block &block, Bytes values) {
  const std::optional<Box> box = box_of(header, variable, block.regions);
  const codec::ArrayCodec *codec = codec::find_array_codec(block.codec);
  if (!box || codec == nullptr || codec->lossy) return;
  uint32_t depth = 0;
  if (const auto known = kept_.find(box->key); known != kept_.end()) {
    if (block.reference != 0) depth = known->second.depth + 1;
    bytes_ -= known->second.values->size();
    kept_.erase(known);
  }
  make_room(values.size());
  if (bytes_ + values.size() > kMost) return;
  bytes_ += values.size();
  kept_.emplace(box->key, Kept{block.regions, block.element, block.sequence, block.checksum, depth, ++clock_,
                               std::make_shared<const Bytes>(std::move(values))});
}

void References::clear() {
  kept_.clear();
  bytes_ = 0;
}

}  // namespace cairn::arrays
