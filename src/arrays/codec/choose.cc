#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>

#include "arrays/codec/codecs.h"
#include "arrays/codec/delta_plan.h"
#include "arrays/codec/delta_residual.h"
#include "arrays/codec/sample.h"

namespace cairn::codec {
namespace {

constexpr size_t kStretches = 8;  ///< at most; a fourth in boxes of a megabyte
/// Long enough that the tables of compressors do not count, and little beside coding the box.
constexpr size_t kStretchBytes = size_t{8} << 10;
constexpr size_t kSmallBox = 4 * kStretchBytes;  ///< up to here compressors are tried on all of it
/// What takes longer, or is known from a smaller sample, has to be that much better.
constexpr double kWorth = 0.97;
/// How far below the entropy of bytes a compressor may come that finds repetition which neighbours do not show.
constexpr double kRepetition = 0.85;

constexpr uint8_t kXor = 1;
constexpr uint8_t kDelta = 7;

/// What a codec encodes on one core, in bytes a second, as docs/array-codecs.md publishes it: what counts for a choice
/// is how they compare.
struct Candidate {
  uint8_t id;
  double speed;
};
constexpr Candidate kCandidates[] = {{kStore, 8e9}, {kXor, 2.5e9}, {3, 1.1e9}, {kDelta, 0.7e9}, {4, 0.5e9}};

/// Where values come again as they were, some way behind: corners that cells share, say. The first of these sees it.
constexpr Candidate kCopying[] = {{2, 0.4e9}, {4, 0.5e9}};
/// Of values in a row so many must be as one of at most 256 before them, and not as the one before.
constexpr double kCopies = 0.25;
/// They are tried on this much in one piece, since what comes again does so far behind.
constexpr size_t kPiece = size_t{128} << 10;

/// What delta writes before and between its blocks.
constexpr double kFront = 64;

/// For speed: the best ratio of those that are at least as fast.
constexpr double kFast = 1.5e9;

/// Stretches of a box, one behind the other: what shuffles and compresses them takes no notice of their shape.
struct Sampled {
  Bytes bytes;
  size_t stretch = 0;  ///< bytes of each

  Sampled(ByteView values, const Grid &grid, size_t stretches_of_it) {
    const auto stretches = sample(values, grid, stretches_of_it, kStretchBytes);
    stretch = stretches.empty() ? 0 : stretches[0].values.size();
    bytes.reserve(stretch * stretches.size());
    for (const Stretch &each : stretches) bytes.insert(bytes.end(), each.values.begin(), each.values.end());
  }
  /// The share that is left of them; negative if the codec cannot carry them.
  [[nodiscard]] double share(const ArrayCodec &codec, Element element) const {
    Bytes coded;
    const uint64_t shape[] = {bytes.size() / size_of(element)};
    if (bytes.empty() || !codec.encode(bytes, {element, shape, {}}, {}, &coded)) return -1;
    return static_cast<double>(coded.size()) / static_cast<double>(bytes.size());
  }
};

/// The share that planes of bytes have left by how often bytes occur, if what equals its neighbour takes nothing. From
/// the front of each stretch.
double share_of_planes(const Sampled &sampled, size_t size) {
  constexpr size_t kSome = 1024;  // bytes of a stretch
  std::array<std::array<uint32_t, 256>, 8> counts = {};
  size_t all = 0;
  size_t others = 0;
  for (size_t first = 0; first < sampled.bytes.size(); first += sampled.stretch) {
    const size_t end = std::min({first + kSome, first + sampled.stretch, sampled.bytes.size()});
    for (size_t at = first; at + size <= end; at += size, ++all) {
      const uint8_t *value = sampled.bytes.data() + at;
      if (at != first && memcmp(value, value - size, size) == 0) continue;
      for (size_t k = 0; k < size; ++k) ++counts[k][value[k]];
      ++others;
    }
  }
  double bits = 0;
  for (size_t k = 0; k < size && others > 0; ++k) bits += entropy(counts[k], others);
  return all == 0 ? 0 : bits * static_cast<double>(others) / static_cast<double>(8 * size * all);
}

/// The share of values in the middle of the box that come again at one of their four commonest distances.
template <typename T>
double share_of_copies(ByteView values) {
  constexpr size_t kSome = 1024;
  constexpr size_t kTable = 2048;
  constexpr size_t kFar = 256;
  const size_t count = std::min(kSome, values.size() / sizeof(T));
  const uint8_t *from = values.data() + (values.size() / sizeof(T) - count) / 2 * sizeof(T);
  std::array<T, kTable> last_of;
  std::array<uint16_t, kTable> places = {};  // of the value that came last with that hash, from 1
  std::array<uint16_t, kFar> distances = {};
  T before = 0;
  for (size_t i = 0; i < count; ++i) {
    T value;
    memcpy(&value, from + i * sizeof(T), sizeof(T));
    const auto slot = static_cast<size_t>(uint64_t{value} * 0x9e3779b97f4a7c15ULL >> 53);
    const size_t distance = i + 1 - places[slot];
    if (places[slot] != 0 && last_of[slot] == value && distance < kFar && !(i > 0 && value == before))
      ++distances[distance];
    places[slot] = static_cast<uint16_t>(i + 1);
    last_of[slot] = before = value;
  }
  std::partial_sort(distances.begin(), distances.begin() + 4, distances.end(), std::greater<>());
  const int all = distances[0] + distances[1] + distances[2] + distances[3];
  return count == 0 ? 0 : static_cast<double>(all) / static_cast<double>(count);
}

/// The share that is left of a piece in the middle of the box.
double share_of_piece(const ArrayCodec &codec, ByteView values, Element element) {
  const size_t size = size_of(element);
  const size_t bytes = std::min(values.size(), kPiece);
  const ByteView piece = values.subspan((values.size() - bytes) / 2 / size * size, bytes);
  const uint64_t shape[] = {bytes / size};
  Bytes coded;
  if (!codec.encode(piece, {element, shape, {}}, {}, &coded)) return -1;
  return static_cast<double>(coded.size()) / static_cast<double>(bytes);
}

}  // namespace

const ArrayCodec *choose_array_codec(ByteView values, const Grid &grid, const Goal &goal, ArrayOptions *options) {
  const ArrayCodec *best = find_array_codec(kStore);
  if (values.empty()) return best;
  const auto plain = static_cast<double>(values.size());
  const size_t size = size_of(grid.element);
  std::unique_ptr<Sampled> sampled;
  const auto from_sample = [&]() -> const Sampled & {
    if (sampled == nullptr) {
      const size_t stretches = std::clamp<size_t>(values.size() >> 18, 4, kStretches);
      sampled = std::make_unique<Sampled>(values, grid, stretches);
    }
    return *sampled;
  };
  const auto share_with = [&](const ArrayCodec &codec) {
    if (codec.id == kStore) return 1.0;
    if (codec.id == kXor) return static_cast<double>(expected_xor(values, grid)) / plain;
    if (codec.id != kDelta) return from_sample().share(codec, grid.element);
    const auto plan = std::make_shared<const DeltaPlan>(choose_delta_plan(values, grid));
    if (options != nullptr) options->plan = plan;
    return plan->bits / static_cast<double>(8 * size) + kFront / plain;
  };
  double least = 0;
  for (const Candidate &candidate : kCandidates) {
    const ArrayCodec *codec = find_array_codec(candidate.id);
    if (codec == nullptr || !codec->takes(grid.element)) continue;
    if (goal.kind == Goal::Kind::speed && candidate.speed < kFast) continue;
    const bool for_bandwidth = goal.kind == Goal::Kind::bandwidth;
    const double time = for_bandwidth ? 1 / candidate.speed : 0;
    // What cannot be the best is not tried: by its time alone, or since the same bytes are shorter in another way.
    if (candidate.id != kStore && time >= least) continue;
    if (goal.kind == Goal::Kind::ratio && (candidate.id == kXor || candidate.id == 3)) continue;
    if (candidate.id == 4) {
      const double share = kRepetition * share_of_planes(from_sample(), size);
      if (values.size() > kSmallBox && (for_bandwidth ? share / goal.bytes_per_second + time : share) >= least)
        continue;
    }
    double share = share_with(*codec);
    const auto cost = [&] { return for_bandwidth ? share / goal.bytes_per_second + time : share; };
    const auto better = [&] { return share >= 0 && (candidate.id == kStore || cost() < kWorth * least); };
    if (!better()) continue;
    // Few stretches can lie; what they say against the plan, which looked everywhere, is asked again.
    if (best->id == kDelta && values.size() > kSmallBox) {
      share = Sampled(values, grid, 2 * kStretches).share(*codec, grid.element);
      if (!better()) break;
    }
    best = codec;
    least = cost();
  }
  if (goal.kind == Goal::Kind::speed || size < 4) return best;
  const double copies = size == 4 ? share_of_copies<uint32_t>(values) : share_of_copies<uint64_t>(values);
  // What is left of floats is their values that are no copies, hardly less.
  if (copies < kCopies || (is_float(grid.element) && least < 0.25 * (1 - copies))) return best;
  for (const Candidate &candidate : kCopying) {
    const ArrayCodec *codec = find_array_codec(candidate.id);
    const bool for_bandwidth = goal.kind == Goal::Kind::bandwidth;
    const double share = share_of_piece(*codec, values, grid.element);
    const double cost = for_bandwidth ? share / goal.bytes_per_second + 1 / candidate.speed : share;
    if (share < 0 || cost >= kWorth * least) continue;
    best = codec;
    least = cost;
  }
  return best;
}

}  // namespace cairn::codec
