#include "arrays/codec/delta_residual.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "arrays/codec/bit_pack.h"
#include "arrays/codec/byte_code.h"
#include "arrays/codec/class_code.h"
#include "arrays/codec/cpu.h"
#include "arrays/codec/shuffle.h"

namespace cairn::codec {
namespace {

constexpr uint8_t kClasses = 0;
constexpr uint8_t kPlanes = 1;
constexpr uint8_t kCodes = 2;
constexpr uint8_t kPlaneStream = 0;
constexpr uint8_t kPlaneCodes = 1;

/// 2^width: of words of 32 bits by way of a float, since only newer CPUs shift each lane of a vector by its own width.
template <typename Word>
CAIRN_BODY Word power(Word width) {
  if constexpr (sizeof(Word) == 4) {
    return static_cast<Word>(static_cast<int32_t>(std::bit_cast<float>((width + 127) << 23)));
  } else {
    return Word(1) << width;
  }
}

template <typename Word>
CAIRN_BODY void classify_body(const Word *__restrict x, size_t count, uint8_t *__restrict classes,
                              uint8_t *__restrict widths, Word *__restrict low) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t klass = class_of(x[i]);
    const Word width = width_of_class(klass);
    classes[i] = static_cast<uint8_t>(klass);
    widths[i] = static_cast<uint8_t>(width);
    low[i] = x[i] & (power(width) - 1);
  }
}

/// Widths; the largest class.
CAIRN_BODY uint32_t widths_body(const uint8_t *__restrict classes, size_t count, uint8_t *__restrict widths) {
  uint8_t most = 0;
  for (size_t i = 0; i < count; ++i) {
    most = std::max(most, classes[i]);
    widths[i] = static_cast<uint8_t>(std::max<uint8_t>(classes[i] >> 2, 1) - 1);
  }
  return most;
}

template <typename Word>
CAIRN_BODY void join_body(const uint8_t *__restrict classes, const uint8_t *__restrict widths, size_t count,
                          Word *__restrict x) {
  for (size_t i = 0; i < count; ++i) {
    const Word klass = classes[i];
    const Word high = klass < 4 ? klass : (klass & 3) | 4;
    x[i] |= high * power(static_cast<Word>(widths[i]));
  }
}

/// The logarithm to base 2 of a positive number, to four digits: from exponent and mantissa, which compilers put into
/// vectors, and the same on every computer.
CAIRN_BODY float log2_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const auto exponent = static_cast<float>(static_cast<int32_t>(bits >> 23) - 127);
  const float m = std::bit_cast<float>((bits & 0x7fffff) | 0x3f800000) - 1;
  return exponent + m * (1.4419F + m * (-0.7096F + m * (0.4146F + m * (-0.1936F + m * 0.0467F))));
}

/// The bits that a byte takes by the frequencies of bytes; corrected for how few they are (Miller 1955).
CAIRN_BODY double bits_of(const std::array<uint32_t, 256> &counts, size_t all) {
  std::array<float, 256> parts;
  for (size_t i = 0; i < 256; ++i) {
    const auto n = static_cast<float>(static_cast<int32_t>(counts[i]));
    const float some = counts[i] != 0 ? 0.72F : 0.0F;  // 1 / (2 ln 2)
    parts[i] = some - n * log2_of(counts[i] != 0 ? n : 1.0F);
  }
  float sum = 0;
  for (const float part : parts) sum += part;
  const auto number = static_cast<float>(all);
  return static_cast<double>((sum - 0.72F) / number + log2_of(number));
}

struct Estimate {
  double classes = 0;
  double planes = 0;
  double plane[8] = {};
  std::array<uint32_t, 256> class_counts = {};
};

/// From runs of residuals with gaps between them, so that their number is at most about `most`.
template <typename Word>
CAIRN_BODY Estimate estimate_body(const Word *x, size_t count, size_t most) {
  constexpr size_t kRun = 32;
  Estimate result;
  std::array<std::array<uint32_t, 256>, sizeof(Word)> planes = {};
  uint64_t low = 0;
  size_t all = 0;
  const size_t step = count <= most ? kRun : (count / (most / kRun)) | 1;
  std::array<uint8_t, kRun> classes;
  for (size_t at = 0; at < count; at += step) {
    const size_t run = std::min(kRun, count - at);
    for (size_t i = 0; i < run; ++i) classes[i] = static_cast<uint8_t>(class_of(x[at + i]));
    for (size_t i = 0; i < run; ++i) {
      low += width_of_class(classes[i]);
      ++result.class_counts[classes[i]];
      for (size_t k = 0; k < sizeof(Word); ++k) ++planes[k][static_cast<uint8_t>(x[at + i] >> (8 * k))];
    }
    all += run;
  }
  if (all == 0) return result;
  result.classes = bits_of(result.class_counts, all) + static_cast<double>(low) / static_cast<double>(all);
  for (size_t k = 0; k < sizeof(Word); ++k) {
    result.plane[k] = bits_of(planes[k], all);
    result.planes += result.plane[k];
  }
  return result;
}

// Planes cost more time: they have to be shorter by so much.
constexpr double kPlanesGain = 0.96;
// Below this, classes and bytes repeat in runs, which only zstd sees.
constexpr double kLeastForCodes = 1.6;
constexpr double kLeastForBytes = 1.1;    // of planes, where zstd finds less for its time
constexpr size_t kFewForCodes = 2048;     // the tables would be too large a share
constexpr double kIncompressible = 7.95;  // bits of a byte
constexpr size_t kSample = 2048;

}  // namespace

template <typename Word>
void write_residuals(const Word *x, size_t count, StreamWriter &streams, ResidualRoom<Word> &room, Bytes *out) {
  const Estimate bits = on_this_cpu<estimate_body<Word>>(x, count, kSample);
  if (bits.classes * kPlanesGain <= bits.planes) {
    on_this_cpu<classify_body<Word>>(x, count, room.classes.get(), room.widths.get(), room.low.get());
    out->push_back(kCodes);
    if (count < kFewForCodes ||
        !write_class_codes(room.classes.get(), count, bits.class_counts, kLeastForCodes, room.packed.get(), out)) {
      out->back() = kClasses;
      streams.write({room.classes.get(), count}, out);
    }
    const size_t size = pack_bits(room.low.get(), room.widths.get(), count, room.packed.get());
    out->insert(out->end(), room.packed.get(), room.packed.get() + size);
    return;
  }
  out->push_back(kPlanes);
  to_byte_planes(reinterpret_cast<const uint8_t *>(x), count, sizeof(Word), room.packed.get());
  for (size_t k = 0; k < sizeof(Word); ++k) {
    const ByteView plane{room.packed.get() + k * count, count};
    if (bits.plane[k] > kIncompressible) {
      out->push_back(kPlaneStream);
      StreamWriter::write_plain(plane, out);
    } else if (bits.plane[k] > kLeastForBytes && count >= kFewForCodes) {
      out->push_back(kPlaneCodes);
      write_byte_codes(plane, reinterpret_cast<uint8_t *>(room.low.get()), out);
    } else {
      out->push_back(kPlaneStream);
      streams.write(plane, out);
    }
  }
}

template <typename Word>
bool read_residuals(ByteReader &in, StreamReader &streams, ResidualRoom<Word> &room, Word *x, size_t count) {
  const uint8_t way = in.byte();
  if (in.failed() || way > kCodes) return false;
  if (way == kPlanes) {
    for (size_t k = 0; k < sizeof(Word); ++k) {
      const uint8_t plane = in.byte();
      const std::span<uint8_t> bytes{room.packed.get() + k * count, count};
      if (in.failed() || plane > kPlaneCodes) return false;
      if (!(plane == kPlaneCodes ? read_byte_codes(in, bytes) : streams.read(in, bytes))) return false;
    }
    from_byte_planes(room.packed.get(), count, sizeof(Word), reinterpret_cast<uint8_t *>(x));
    return true;
  }
  uint8_t *classes = room.classes.get();
  if (!(way == kCodes ? read_class_codes(in, classes, count) : streams.read(in, {classes, count}))) return false;
  if (!is_class<Word>(on_this_cpu<widths_body>(room.classes.get(), count, room.widths.get()))) return false;
  if (!unpack_bits(in, room.widths.get(), count, x)) return false;
  on_this_cpu<join_body<Word>>(room.classes.get(), room.widths.get(), count, x);
  return true;
}

double entropy(const std::array<uint32_t, 256> &counts, size_t all) { return bits_of(counts, all); }

template <typename Word>
double estimated_bits(const Word *residuals, size_t count) {
  const Estimate bits = on_this_cpu<estimate_body<Word>>(residuals, count, count);
  return std::min(bits.classes, bits.planes);
}

template void write_residuals(const uint32_t *, size_t, StreamWriter &, ResidualRoom<uint32_t> &, Bytes *);
template void write_residuals(const uint64_t *, size_t, StreamWriter &, ResidualRoom<uint64_t> &, Bytes *);
template bool read_residuals(ByteReader &, StreamReader &, ResidualRoom<uint32_t> &, uint32_t *, size_t);
template bool read_residuals(ByteReader &, StreamReader &, ResidualRoom<uint64_t> &, uint64_t *, size_t);
template double estimated_bits(const uint32_t *residuals, size_t count);
template double estimated_bits(const uint64_t *residuals, size_t count);

}  // namespace cairn::codec
