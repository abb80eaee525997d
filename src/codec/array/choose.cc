#include <algorithm>

#include "codec/array/array_codec.h"
#include "codec/array/delta_plan.h"
#include "codec/array/sample.h"

namespace cairn::codec {
namespace {

constexpr size_t kStretches = 12;  ///< at most; a third in boxes of a megabyte
/// Long enough that the tables of compressors do not count, and little beside coding the box.
constexpr size_t kStretchBytes = size_t{8} << 10;
constexpr size_t kSmallBox = 4 * kStretchBytes;  ///< up to here every codec is tried on all of it
/// What takes longer, or is known from a smaller sample, has to be that much better.
constexpr double kWorth = 0.97;

constexpr uint8_t kDelta = 7;

/// What a codec encodes on one core, in bytes a second, as docs/array-codecs.md publishes it: what counts for a choice
/// is how they compare. fpzip and zfp are no candidates: they take three times as long as what is as short.
struct Candidate {
  uint8_t id;
  double speed;
};
constexpr Candidate kCandidates[] = {{kStore, 8e9}, {1, 2e9}, {3, 1.1e9}, {kDelta, 0.6e9}, {4, 0.5e9}, {6, 0.4e9}};

/// For speed: the best ratio of those that are at least as fast.
constexpr double kFast = 1.5e9;

double encoded_size(const ArrayCodec &codec, const std::vector<Stretch> &stretches, Element element) {
  Bytes bytes;
  for (const Stretch &stretch : stretches) {
    if (!codec.encode(stretch.values, {element, stretch.shape, stretch.reference}, {}, &bytes)) return -1;
  }
  return static_cast<double>(bytes.size());
}

}  // namespace

const ArrayCodec *choose_array_codec(ByteView values, const Grid &grid, const Goal &goal) {
  const bool small = values.size() <= kSmallBox;
  const std::vector<Stretch> stretches =
      sample(values, grid, std::clamp<size_t>(values.size() >> 18, 4, kStretches), kStretchBytes);
  double plain = 0;
  for (const Stretch &stretch : stretches) plain += static_cast<double>(stretch.values.size());
  const ArrayCodec *best = find_array_codec(kStore);
  double least = 0;
  for (const Candidate &candidate : kCandidates) {
    const ArrayCodec *codec = find_array_codec(candidate.id);
    if (codec == nullptr || !codec->takes(grid.element)) continue;
    if (goal.kind == Goal::Kind::speed && candidate.speed < kFast) continue;
    // A plan says what the codec expects of the whole box, which stretches of it do not show: steps along slow axes.
    const double size = candidate.id == kDelta && !small ? choose_delta_plan(values, grid).bits / 8 /
                                                               static_cast<double>(size_of(grid.element)) * plain
                                                         : encoded_size(*codec, stretches, grid.element);
    if (size < 0) continue;
    const double cost =
        goal.kind == Goal::Kind::bandwidth ? size / goal.bytes_per_second + plain / candidate.speed : size;
    if (candidate.id == kStore || cost < kWorth * least) {
      best = codec;
      least = cost;
    }
  }
  return best;
}

}  // namespace cairn::codec
