#include <zfp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "arrays/codec/codecs.h"
#include "base/hash.h"

namespace cairn::codec {
namespace {

/// The shape as at most four extents, the slowest first, none of them 1 unless there is but one. More extents become
/// one with the slowest.
struct Extents {
  size_t count = 0;
  size_t of[4] = {};
};
Extents extents_of(std::span<const uint64_t> shape) {
  constexpr size_t kMost = 4;
  Extents extents;
  for (size_t axis = shape.size(); axis-- > 0;) {  // the fastest first, reversed below
    const auto extent = static_cast<size_t>(shape[axis]);
    if (extent == 1) continue;
    if (extents.count < kMost) {
      extents.of[extents.count++] = extent;
    } else {
      extents.of[kMost - 1] *= extent;
    }
  }
  if (extents.count == 0) extents.of[extents.count++] = 1;
  std::reverse(extents.of, extents.of + extents.count);
  return extents;
}

// zfp cannot be told where its input ends: a checksum stands in front of what it wrote, and on the way back as many
// zeros behind it as it could ever read for so many values. Damage is found by the checksum; what forges that as well
// reads zeros.

void write_guarded(ByteView coded, Bytes *out) {
  ByteWriter front;
  front.fixed64(hash64(coded));
  out->insert(out->end(), front.view().begin(), front.view().end());
  out->insert(out->end(), coded.begin(), coded.end());
}

struct Free {
  void operator()(uint8_t *bytes) const { std::free(bytes); }
};
/// What write_guarded was given, followed by zeros up to at least `most` bytes. nullptr if the checksum differs.
std::unique_ptr<uint8_t, Free> read_guarded(ByteView encoded, size_t most) {
  ByteReader in(encoded);
  const uint64_t sum = in.fixed64();
  const ByteView coded = in.raw(in.remaining());
  if (in.failed() || coded.empty() || hash64(coded) != sum) return nullptr;
  // calloc and not a vector: zeros that nobody reads cost nothing.
  std::unique_ptr<uint8_t, Free> bytes(static_cast<uint8_t *>(std::calloc(std::max(most, coded.size()), 1)));
  if (bytes != nullptr) memcpy(bytes.get(), coded.data(), coded.size());
  return bytes;
}

/// A compressor over one piece of memory, closed in any case.
class Zfp {
 public:
  Zfp(void *values, Element element, const Extents &extents, void *bytes, size_t size)
      : bits_(stream_open(bytes, size)), stream_(zfp_stream_open(bits_)), field_(field_of(values, element, extents)) {
    if (stream_ != nullptr) zfp_stream_rewind(stream_);
  }
  ~Zfp() {
    zfp_field_free(field_);
    zfp_stream_close(stream_);
    stream_close(bits_);
  }
  Zfp(const Zfp &) = delete;
  Zfp &operator=(const Zfp &) = delete;

  [[nodiscard]] bool good() const { return bits_ != nullptr && stream_ != nullptr && field_ != nullptr; }
  size_t compress(double tolerance) {
    zfp_stream_set_accuracy(stream_, tolerance);
    return zfp_compress(stream_, field_);
  }
  bool decompress(double tolerance) {
    zfp_stream_set_accuracy(stream_, tolerance);
    return zfp_decompress(stream_, field_) != 0;
  }

 private:
  static zfp_field *field_of(void *values, Element element, const Extents &extents) {
    const zfp_type type = element == Element::f32 ? zfp_type_float : zfp_type_double;
    const size_t *of = extents.of;
    switch (extents.count) {
      case 1:
        return zfp_field_1d(values, type, of[0]);
      case 2:
        return zfp_field_2d(values, type, of[1], of[0]);
      case 3:
        return zfp_field_3d(values, type, of[2], of[1], of[0]);
      default:
        return zfp_field_4d(values, type, of[3], of[2], of[1], of[0]);
    }
  }
  bitstream *bits_;
  zfp_stream *stream_;
  zfp_field *field_;
};

/// More than a decoder can take from its input: every bit plane of every block in full, each with all its group tests,
/// and what stands in front of a block.
size_t most_bytes(const Extents &extents, size_t width) {
  size_t values = 1;
  size_t blocks = 1;
  for (size_t i = 0; i < extents.count; ++i) {
    values *= (extents.of[i] + 3) / 4 * 4;
    blocks *= (extents.of[i] + 3) / 4;
  }
  return 2 * values * width + 16 * blocks + 64;
}

bool encode(ByteView values, const Grid &grid, double tolerance, Bytes *out) {
  if (!is_float(grid.element)) return false;
  if (values.empty()) return true;
  const Extents extents = extents_of(grid.shape);
  Bytes room(most_bytes(extents, size_of(grid.element)));
  // zfp only reads what it compresses, though its types do not say so.
  Zfp zfp(const_cast<uint8_t *>(values.data()), grid.element, extents, room.data(), room.size());
  if (!zfp.good()) return false;
  const size_t size = zfp.compress(tolerance);
  if (size == 0 || size > room.size()) return false;
  write_guarded(ByteView(room).first(size), out);
  return true;
}

bool decode(ByteView encoded, const Grid &grid, double tolerance, std::span<uint8_t> values) {
  if (!is_float(grid.element)) return false;
  if (values.empty()) return encoded.empty();
  const Extents extents = extents_of(grid.shape);
  const size_t most = most_bytes(extents, size_of(grid.element));
  const auto bytes = read_guarded(encoded, most);
  if (bytes == nullptr) return false;
  Zfp zfp(values.data(), grid.element, extents, bytes.get(), most);
  if (!zfp.good()) return false;
  return zfp.decompress(tolerance);
}

template <typename T>
bool within(ByteView values, std::span<const uint8_t> others, double tolerance) {
  for (size_t at = 0; at < values.size(); at += sizeof(T)) {
    T value = 0;
    T other = 0;
    memcpy(&value, values.data() + at, sizeof(T));
    memcpy(&other, others.data() + at, sizeof(T));
    // The negation also refuses what is not a number.
    if (!(std::abs(static_cast<double>(value) - static_cast<double>(other)) <= tolerance)) return false;
  }
  return true;
}

constexpr size_t kTolerance = sizeof(double);

}  // namespace

// zfp promises its tolerance only where the values of a block are not too far apart, and no missing value of -1e34 is
// among them: what it wrote is read again here.
bool encode_zfp_lossy(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out) {
  if (!(options.tolerance > 0) || !std::isfinite(options.tolerance)) return false;
  Bytes coded(kTolerance);
  memcpy(coded.data(), &options.tolerance, kTolerance);
  if (!encode(values, grid, options.tolerance, &coded)) return false;
  Bytes back(values.size());
  if (!decode_zfp_lossy(coded, grid, back)) return false;
  const bool good = grid.element == Element::f32 ? within<float>(values, back, options.tolerance)
                                                 : within<double>(values, back, options.tolerance);
  if (good) out->insert(out->end(), coded.begin(), coded.end());
  return good;
}

bool decode_zfp_lossy(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  if (encoded.size() < kTolerance) return false;
  double tolerance = 0;
  memcpy(&tolerance, encoded.data(), kTolerance);
  if (!(tolerance > 0) || !std::isfinite(tolerance)) return false;
  return decode(encoded.subspan(kTolerance), grid, tolerance, values);
}

}  // namespace cairn::codec
