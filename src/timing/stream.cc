#include "timing/stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <map>

#include "base/as_size.h"
#include "base/hash.h"
#include "base/saturating.h"
#include "timing/chunks.h"
#include "timing/group_numbers.h"

namespace cairn::timing {
namespace {

constexpr size_t kCheck = 4;       ///< bytes
constexpr uint8_t kByDepth = 128;  ///< added to the mode's number: calls are nested, and each depth has a clock

uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }
/// Of what a decoder gives. Bytes alone would not tell that they were decoded for other calls.
uint64_t hash_of(std::span<const CallTime> times) {
  uint64_t hash = times.size();
  for (const CallTime &time : times) {
    hash = (std::rotl(hash, 29) ^ time.gap) * 0x9e3779b97f4a7c15U;
    hash = (std::rotl(hash, 29) ^ time.duration) * 0xd6e8feb86659fd93U;
  }
  return hash ^ hash >> 32;
}

uint32_t check_of(ByteView bytes, std::span<const CallTime> times) {
  return static_cast<uint32_t>(hash64(bytes) + hash_of(times));
}

/// Of a block's calls.
class Depths {
 public:
  explicit Depths(const BlockCalls &calls) : calls_(calls) {}
  [[nodiscard]] uint32_t of(size_t call) const {
    const uint32_t group = calls_.groups[call];
    return group < calls_.depths.size() ? calls_.depths[group] : 0;
  }

 private:
  BlockCalls calls_;
};

/// Puts calls in their places, as encoder and decoder must alike.
class Placer {
 public:
  explicit Placer(const StreamEnd &end) : ends_(end) {}
  /// By what was coded, before anything else is known.
  [[nodiscard]] uint64_t coded_begin(const CallTime &time, uint32_t depth) const {
    return saturating(ends_.before(depth).clock_ns, time.gap);
  }
  /// Its begin; `coded_begin` or an anchor.
  uint64_t place(const CallTime &time, uint32_t depth, uint64_t begin) {
    const uint64_t result = std::max(begin, ends_.before(depth).placed_ns);
    ends_.ended(depth, {saturating(begin, time.duration), saturating(result, time.duration)});
    return result;
  }
  [[nodiscard]] const StreamEnd &ends() const { return ends_; }

 private:
  StreamEnd ends_;
};

/// Those before the last, whose calls go on: each as how far it is behind the one that is deeper, and how far ahead of
/// that it is placed.
void write_outer_ends(const StreamEnd &end, ByteWriter &out) {
  out.varint(end.last_depth());
  for (uint32_t depth = end.last_depth(); depth-- > 0;) {
    const PlacedEnd &own = end.before(depth);
    out.varint(end.before(depth + 1).clock_ns - own.clock_ns);
    out.varint(own.placed_ns - own.clock_ns);
  }
}

/// `end` has the last, at depth 0.
bool parse_outer_ends(ByteReader &in, StreamEnd *end) {
  const uint64_t count = in.varint();
  if (count >= StreamEnd::kMost) return false;
  std::vector<PlacedEnd> ends = {end->last()};
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t behind = in.varint();
    if (behind > ends.back().clock_ns) return false;
    const uint64_t clock = ends.back().clock_ns - behind;
    ends.push_back({clock, saturating(clock, in.varint())});
  }
  for (uint32_t depth = 0; !ends.empty(); ++depth, ends.pop_back()) end->ended(depth, ends.back());
  return !in.failed();
}

/// The bounds that groups have: each once, then which each group has.
void write_bounds(std::span<const uint64_t> bounds, ByteWriter &out) {
  std::map<uint64_t, size_t> numbers;
  std::vector<uint64_t> different;
  for (const uint64_t bound : bounds) {
    if (numbers.try_emplace(bound, different.size()).second) different.push_back(bound);
  }
  out.varint(different.size());
  for (const uint64_t bound : different) out.varint(bound);
  if (different.size() < 2) return;
  for (const uint64_t bound : bounds) out.varint(numbers[bound]);
}

bool parse_bounds(ByteReader &in, const Mode &mode, std::vector<uint64_t> *bounds) {
  constexpr uint64_t kMostRelative = 1'000'000;
  constexpr uint64_t kLeastRelative = 100;
  constexpr size_t kMost = 256;  // each costs a decoder a table of bins
  const size_t count = in.count(1);
  if (count > kMost) return false;
  std::vector<uint64_t> different(count);
  for (uint64_t &bound : different) {
    bound = in.varint();
    const bool exact = bound == 0 && mode.bounds != Bounds::absolute;
    if (mode.bounds == Bounds::relative && !exact && (bound < kLeastRelative || bound > kMostRelative)) in.fail();
    if (mode.bounds == Bounds::none && bound != 0) in.fail();
  }
  if (in.failed() || count == 0) return false;
  for (uint64_t &bound : *bounds) {
    const uint64_t number = count < 2 ? 0 : in.varint();
    if (number >= count) return false;
    bound = different[as_size(number)];
  }
  return !in.failed();
}

/// Anchors every `stride` calls, each as how far the coded clock is off; and how far it is off at most between them.
/// What goes on from there, in `after`.
Bytes anchors_of(std::span<const CallTime> exact, std::span<const CallTime> coded, const Depths &depths,
                 uint64_t stride, const StreamEnd &before, uint64_t *error, StreamEnd *after) {
  ByteWriter out;
  Placer placer(before);
  *after = before;
  *error = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const uint32_t depth = depths.of(i);
    const uint64_t begin = saturating(after->before(depth).clock_ns, exact[i].gap);
    const uint64_t end = saturating(begin, exact[i].duration);
    uint64_t placed = placer.coded_begin(coded[i], depth);
    if (stride != 0 && i != 0 && i % stride == 0) {
      out.signed_varint(static_cast<int64_t>(begin - placed));
      placed = begin;
    }
    placed = placer.place(coded[i], depth, placed);
    const uint64_t placed_end = placer.ends().last().placed_ns;
    *error = std::max({*error, distance(placed, begin), distance(placed_end, end)});
    // Readers begin the next block by no less than the exact clock.
    after->ended(depth, {end, std::max(end, placed_end)});
  }
  return out.take();
}

}  // namespace

void StreamSize::add(const StreamSize &other) {
  blocks += other.blocks;
  calls += other.calls;
  bytes += other.bytes;
  clock_error_ns = std::max(clock_error_ns, other.clock_error_ns);
}

void TimesCost::add(const TimesCost &other) {
  size.add(other.size);
  coding_ns += other.coding_ns;
  writing_ns += other.writing_ns;
}

void encode_block(const Mode &mode, const BlockCalls &calls, std::span<CallTime> times, StreamEnd *end, Bytes *out,
                  StreamSize *size) {
  assert(!times.empty() && times.size() <= kMostBlockCalls && times.size() == calls.groups.size());
  const std::vector<CallTime> exact(times.begin(), times.end());
  const Depths depths(calls);
  const bool by_depth = end->last_depth() != 0 || std::any_of(calls.depths.begin(), calls.depths.end(),
                                                              [](uint32_t depth) { return depth != 0; });
  Bytes payload;
  mode.encode(calls, times, &payload);
  const bool off = !std::equal(times.begin(), times.end(), exact.begin());

  uint64_t stride = 0;
  uint64_t error = 0;
  StreamEnd after;
  Bytes anchors;
  constexpr uint64_t kAnchorBytes = 4;
  const uint64_t most = payload.size() / 100;
  if (off && most >= kAnchorBytes) stride = std::max<uint64_t>(times.size() * kAnchorBytes / most, 1);
  while (true) {
    anchors = anchors_of(exact, times, depths, stride, *end, &error, &after);
    if (anchors.size() <= most) break;
    stride = stride * 2 > times.size() ? 0 : stride * 2;
  }

  ByteWriter rest(payload.size() + anchors.size() + 64);
  rest.byte(by_depth ? mode.number | kByDepth : mode.number);
  rest.varint(end->last().clock_ns);
  rest.varint(end->last().placed_ns - end->last().clock_ns);
  rest.varint(error);
  if (by_depth) write_outer_ends(*end, rest);
  write_bounds(calls.bounds, rest);
  rest.varint(stride);
  rest.raw(anchors);
  rest.raw(payload);
  ByteWriter block(rest.size() + 2 * kMaxVarint + kCheck);
  block.varint(times.size());
  block.varint(rest.size());
  block.fixed32(check_of(rest.view(), times));
  block.raw(rest.view());
  out->insert(out->end(), block.view().begin(), block.view().end());
  *end = after;
  size->add({1, times.size(), block.size(), error});
}

Bytes encode_stream(const Mode &mode, std::span<const uint32_t> groups, std::span<const uint64_t> bounds,
                    std::vector<CallTime> times, StreamSize *size, std::span<const uint32_t> depths) {
  if (times.empty()) return {};
  Bytes stream = {kStreamMark};
  StreamEnd end;
  GroupNumbers numbers;
  for (size_t first = 0; first < times.size(); first += kUsualBlockCalls) {
    const size_t calls = std::min(kUsualBlockCalls, times.size() - first);
    numbers.begin_block();
    for (size_t i = first; i < first + calls; ++i) {
      numbers.add(groups[i], bounds[groups[i]], depths.empty() ? 0 : depths[groups[i]]);
    }
    encode_block(mode, numbers.calls(), std::span(times).subspan(first, calls), &end, &stream, size);
  }
  return stream;
}

bool find_blocks(ByteView stream, uint64_t calls, std::vector<BlockPlace> *blocks, size_t *bad_byte) {
  if (stream.empty()) return true;
  if (stream[0] == kStreamMark) return find_blocks_from(1, stream, calls, blocks, bad_byte);
  BlockPlace all;
  all.of_chunks = true;
  all.bytes = stream;
  if (!count_chunks(stream, &all.calls, bad_byte) || all.calls > calls) return false;
  blocks->push_back(all);
  return true;
}

bool find_blocks_from(size_t begin_byte, ByteView stream, uint64_t calls, std::vector<BlockPlace> *blocks,
                      size_t *bad_byte) {
  ByteReader in(stream);
  in.raw(begin_byte);
  uint64_t first = 0;
  while (!in.at_end()) {
    *bad_byte = in.position();
    BlockPlace block;
    block.first_call = first;
    block.offset = in.position();
    block.calls = in.varint();
    const uint64_t size = in.varint();
    const size_t begin = in.position();
    if (in.failed() || size > stream.size() || in.remaining() < kCheck + size) return false;
    if (block.calls == 0 || block.calls > kMostBlockCalls || block.calls > calls - first) return false;
    block.bytes = stream.subspan(begin, kCheck + as_size(size));
    ByteReader head(block.bytes.subspan(kCheck));
    head.byte();
    const uint64_t clock = head.varint();
    block.begin_ns = saturating(clock, head.varint());
    block.clock_error_ns = head.varint();
    if (head.failed()) return false;
    in.raw(block.bytes.size());
    first += block.calls;
    blocks->push_back(block);
  }
  return true;
}

std::vector<BlockPlace> find_last_blocks(size_t begin, uint64_t calls_before, ByteView stream, uint64_t calls) {
  // From most bytes no block leads on, and from those that one does, it soon ends.
  uint64_t steps_left = 8 * stream.size();
  for (size_t from = begin + 1; from < stream.size(); ++from) {
    std::vector<BlockPlace> blocks;
    size_t bad = 0;
    const bool fill = find_blocks_from(from, stream, calls - calls_before - 1, &blocks, &bad);
    if (fill) {
      const uint64_t before = calls - (blocks.back().first_call + blocks.back().calls);
      for (BlockPlace &block : blocks) block.first_call += before;
      return blocks;
    }
    if (blocks.size() >= steps_left) return {};
    steps_left -= blocks.size() + 1;
  }
  return {};
}

const char *decode_block(const BlockPlace &block, std::span<const uint32_t> groups, std::vector<PlacedTime> *times,
                         std::span<const uint32_t> depths) {
  constexpr const char *kMalformed = "malformed";
  if (block.of_chunks) {
    std::vector<CallTime> exact;
    if (!read_chunks(block.bytes, &exact) || exact.size() != block.calls) return kMalformed;
    Placer placer({});
    for (const CallTime &time : exact) times->push_back({placer.place(time, 0, placer.coded_begin(time, 0)), time});
    return nullptr;
  }
  if (groups.size() != block.calls || block.bytes.size() < kCheck) return kMalformed;
  ByteReader check(block.bytes);
  const uint32_t wanted = check.fixed32();
  const ByteView rest = block.bytes.subspan(kCheck);
  ByteReader in(rest);
  const uint8_t number = in.byte();
  const bool by_depth = (number & kByDepth) != 0;
  const Mode *mode = mode_numbered(by_depth ? number - kByDepth : number);
  if (mode == nullptr) return "in a timing mode that this Cairn does not know";
  if (mode->missing != nullptr && mode->missing() != nullptr) return mode->missing();
  StreamEnd end;
  const uint64_t clock = in.varint();
  end.ended(0, {clock, saturating(clock, in.varint())});
  in.varint();
  if (by_depth && !parse_outer_ends(in, &end)) return kMalformed;
  const uint32_t most = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end());
  std::vector<uint64_t> bounds(size_t{most} + 1);
  if (!parse_bounds(in, *mode, &bounds)) return kMalformed;
  const uint64_t stride = in.varint();
  if (in.failed() || stride > block.calls) return kMalformed;
  std::vector<int64_t> anchors(stride == 0 ? 0 : as_size((block.calls - 1) / stride));
  for (int64_t &anchor : anchors) anchor = in.signed_varint();
  if (in.failed()) return kMalformed;

  std::vector<CallTime> coded(groups.size());
  if (!mode->decode({groups, bounds}, rest.subspan(in.position()), coded)) return kMalformed;
  if (check_of(rest, coded) != wanted) return "damaged, or of other calls";
  Placer placer(end);
  const Depths of_calls({groups, bounds, by_depth ? depths : std::span<const uint32_t>()});
  times->reserve(times->size() + coded.size());
  for (size_t i = 0; i < coded.size(); ++i) {
    const uint32_t depth = of_calls.of(i);
    uint64_t begin = placer.coded_begin(coded[i], depth);
    if (stride != 0 && i != 0 && i % stride == 0) begin += static_cast<uint64_t>(anchors[i / stride - 1]);
    times->push_back({placer.place(coded[i], depth, begin), coded[i]});
  }
  return nullptr;
}

}  // namespace cairn::timing
