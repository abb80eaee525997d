#include "arrays/file/references.h"

#include <algorithm>
#include <utility>

#include "arrays/codec/array_codec.h"
#include "base/hash.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kFewest = 32;  // blocks of a writer that chains are worth it for
constexpr uint32_t kTried = 2;    // boxes of a variable that are coded both ways
constexpr uint32_t kWatched = 4;  // boxes that are kept for that

/// How long chains pay, if a box against another takes so much of what one alone takes (references.h).
uint32_t length_that_pays(double share) {
  constexpr double kGain = 0.05;
  uint32_t length = 0;
  double bytes = 1;
  for (const uint32_t longer : {1U, 3U, 7U}) {
    const double then = (1 + longer * share) / (longer + 1);
    if (bytes - then < kGain) break;
    bytes = then;
    length = longer;
  }
  return length;
}

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

Chain Chain::automatic(uint64_t writers, uint64_t there, const IndexSizes &sizes) {
  const uint64_t most = 4 * sizes.segment;
  const uint64_t blocks = (most - std::min(most, there)) / writers;
  return blocks < kFewest ? Chain{} : Chain{7, true, blocks};
}

std::optional<References::Place> References::place_of(const Header &header, int variable,
                                                      const Regions &regions) const {
  if (variable < 0) return std::nullopt;
  const Variable &owner = header.variables[static_cast<size_t>(variable)];
  const uint64_t step = step_of(header, owner);
  if (step == 0) return std::nullopt;
  const uint64_t begin = regions.front().offset;
  ByteWriter out;
  out.varint(static_cast<uint64_t>(variable));
  out.varint((begin - owner.begin) % step);
  out.fixed64(hash_of(regions, begin));
  return Place{hash64(out.view()), step};
}

std::optional<uint32_t> References::length(int variable) const {
  if (!chain_.chosen) return chain_.most;
  const auto known = trials_.find(variable);
  return known == trials_.end() ? std::nullopt : known->second.length;
}

References::Earlier References::find(const Place &place, const Regions &regions, codec::Element element,
                                     uint32_t length) {
  const auto known = kept_.find(place.key);
  if (known == kept_.end()) return {};
  Kept &kept = known->second;
  kept.used = ++clock_;
  if (kept.depth >= length || kept.element != element || !moved(kept.regions, regions, place.step)) return {};
  return {kept.sequence, kept.checksum, kept.values};
}

Block References::append(const Header &header, Regions regions, const Box &box, const Coding &coding, uint64_t sequence,
                         Bytes *out) {
  if (chain_.chosen && ++coded_ > chain_.blocks) end();
  const bool may = !chain_.chosen || (coding.user == nullptr && coding.choice.shortest());
  const std::optional<uint32_t> length = may ? this->length(box.variable) : 0;
  const std::optional<Place> place = length == 0U ? std::nullopt : place_of(header, box.variable, regions);
  Earlier earlier;
  if (place) earlier = find(*place, regions, box.element, length.value_or(chain_.most));
  Block block = append_block(std::move(regions), box.element, box.owner, box.values, coding, box.exact, box.user_number,
                             length ? earlier.reference() : Reference{}, out);
  block.sequence = sequence;
  if (!length && earlier.values != nullptr) try_both(block, box, coding, earlier);
  if (place) keep(*place, box, block);
  return block;
}

void References::try_both(const Block &alone, const Box &box, const Coding &coding, const Earlier &earlier) {
  Bytes bytes;
  const Block against = append_block(alone.regions, box.element, box.owner, box.values, coding, box.exact,
                                     box.user_number, earlier.reference(), &bytes);
  Trial &trial = trials_[box.variable];
  ++trial.boxes;
  trial.alone += alone.size;
  trial.against += against.size;
  if (trial.boxes < kTried) return;
  trial.length = std::min(chain_.most, length_that_pays(static_cast<double>(trial.against) /
                                                        static_cast<double>(std::max<uint64_t>(trial.alone, 1))));
  if (trial.length == 0U) drop_if([&](const Kept &each) { return each.variable == box.variable; });
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

void References::keep(const Place &place, const Box &box, const Block &block) {
  const codec::ArrayCodec *codec = codec::find_array_codec(block.codec);
  if (codec == nullptr || codec->lossy) return;
  const std::optional<uint32_t> length = this->length(box.variable);
  if (length == 0U) return;
  uint32_t depth = 0;
  if (const auto known = kept_.find(place.key); known != kept_.end()) {
    if (block.reference != 0) depth = known->second.depth + 1;
    bytes_ -= known->second.values->size();
    kept_.erase(known);
  } else if (!length && ++trials_[box.variable].kept > kWatched) {
    return;
  }
  make_room(box.values.size());
  if (bytes_ + box.values.size() > kMost) return;
  bytes_ += box.values.size();
  kept_.emplace(place.key, Kept{box.variable, block.regions, block.element, block.sequence, block.checksum, depth,
                                ++clock_, std::make_shared<const Bytes>(box.values.begin(), box.values.end())});
}

void References::clear() {
  kept_.clear();
  bytes_ = 0;
  for (auto &[variable, trial] : trials_) trial.kept = 0;
}

void References::end() {
  chain_ = {};
  clear();
}

}  // namespace cairn::arrays
