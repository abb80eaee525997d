#include "codec/array/array_codec.h"
#include "codec/array/sample.h"

namespace cairn::codec {
namespace {

// Enough that the ratio of the sample is that of the box within a few hundredths, and little beside coding a box of
// some megabytes.
constexpr size_t kStretches = 4;
constexpr size_t kStretchBytes = size_t{64} << 10;

/// What a codec can do on one core, in bytes a second, as docs/array-codecs.md publishes it. Only the order matters for
/// what is chosen.
struct Candidate {
  uint8_t id;
  double speed;
};
constexpr Candidate kCandidates[] = {{0, 8e9}, {3, 1.1e9}, {5, 1.1e9}, {4, 0.5e9}, {6, 0.4e9}};

/// For speed: the best ratio among those that are at least as fast.
constexpr double kFast = 1.0e9;

size_t encoded_size(const ArrayCodec &codec, const std::vector<Stretch> &stretches, Element element) {
  Bytes bytes;
  for (const Stretch &stretch : stretches) {
    const Grid grid{element, stretch.shape, stretch.reference};
    if (!codec.encode(stretch.values, grid, {}, &bytes)) return SIZE_MAX;
  }
  return bytes.size();
}

}  // namespace

const ArrayCodec *choose_array_codec(ByteView values, const Grid &grid, const Goal &goal) {
  const std::vector<Stretch> stretches = sample(values, grid, kStretches, kStretchBytes);
  size_t plain = 0;
  for (const Stretch &stretch : stretches) plain += stretch.values.size();
  const ArrayCodec *best = find_array_codec(kStore);
  double least = 0;
  for (const Candidate &candidate : kCandidates) {
    const ArrayCodec *codec = find_array_codec(candidate.id);
    if (codec == nullptr || !codec->takes(grid.element)) continue;
    if (goal.kind == Goal::Kind::speed && candidate.speed < kFast) continue;
    const size_t size = encoded_size(*codec, stretches, grid.element);
    if (size == SIZE_MAX) continue;
    double cost = static_cast<double>(size);
    if (goal.kind == Goal::Kind::bandwidth)
      cost = cost / goal.bytes_per_second + static_cast<double>(plain) / candidate.speed;
    if (candidate.id == kStore || cost < least) {
      best = codec;
      least = cost;
    }
  }
  return best;
}

}  // namespace cairn::codec
