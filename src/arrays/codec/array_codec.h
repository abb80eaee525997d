// Array codecs: the values of one box of an array in, fewer bytes out, and bit for bit back (but for those that say
// that they lose something). A registry beside that of streams (codec/codec.h) because these know what they are given:
// the type of an element and the shape of the box.
//
// Values are little-endian and row-major, the last axis the fastest. What a codec chooses for a box (an axis, a stride)
// it writes at the front of its bytes: `decode` needs what `encode` got beside the values, and nothing else. Numbers
// are permanent; 128 and above are a user's own functions, which this registry does not know. Nothing throws or prints.
// Any thread may use any codec; each keeps some of the memory that it worked in for its next call (codec/reused.h). A
// decoder writes exactly `values` or gives false, whatever bytes it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace cairn::codec {

enum class Element : uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
constexpr size_t size_of(Element element) {
  constexpr uint8_t kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return kSizes[static_cast<size_t>(element)];
}
constexpr bool is_float(Element element) { return element >= Element::f32; }

/// What the values are. The product of the shape times the size of an element is their number of bytes.
struct Grid {
  Element element = Element::u8;
  std::span<const uint64_t> shape;
  /// Values that the reader will have, too: the same box one time step earlier. Empty, or as long as the values.
  ByteView reference;
};

struct DeltaPlan;

struct ArrayOptions {
  int level = 0;         ///< 0: the codec's own
  double tolerance = 0;  ///< the largest absolute error that a lossy codec may make
  /// What choosing found for the very same values and grid, so that encoding does not look for it again; or nothing.
  std::shared_ptr<const DeltaPlan> plan = {};
};

struct ArrayCodec {
  uint8_t id;
  std::string_view name;
  bool lossy;
  bool (*takes)(Element element);  ///< whether it can carry such elements
  /// Appends the encoded bytes. False if it cannot carry these values; then nothing was appended.
  bool (*encode)(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out);
  bool (*decode)(ByteView encoded, const Grid &grid, std::span<uint8_t> values);
};

constexpr uint8_t kStore = 0;  ///< as they are
constexpr uint8_t kFirstOfUsers = 128;

/// Whether these bytes, which the codec wrote, can only be decoded with the reference that it was given.
bool refers(uint8_t codec, ByteView encoded);

std::span<const ArrayCodec> array_codecs();
const ArrayCodec *find_array_codec(uint8_t id);             ///< nullptr if there is none
const ArrayCodec *find_array_codec(std::string_view name);  ///< nullptr if there is none

/// What `auto` is to choose for.
struct Goal {
  enum class Kind : uint8_t { ratio, speed, bandwidth } kind = Kind::ratio;
  double bytes_per_second =
      0;  ///< of the storage, per rank; for `bandwidth`: least time of coding and writing together
};

/// A codec by name with its options ("zstd", "zstd:3", "zfp-lossy:0.001"), or an automatic choice ("auto",
/// "auto:speed", "auto:bandwidth=2e7"). "auto" is "auto:ratio".
struct ArrayCodecChoice {
  const ArrayCodec *codec = nullptr;  ///< nullptr: chosen for each box, for `goal`
  ArrayOptions options;
  Goal goal;
  [[nodiscard]] bool shortest() const { return codec == nullptr && goal.kind == Goal::Kind::ratio; }
};
Result<ArrayCodecChoice> parse_array_codec(std::string_view words);

/// The codec that a sample of the values is best served by. Cost: 0.1 to 0.4 ms where the goal is ratio, a tenth of
/// that where it is speed. `options`, if there are any, get the plan: with it, encoding saves most of that again.
const ArrayCodec *choose_array_codec(ByteView values, const Grid &grid, const Goal &goal,
                                     ArrayOptions *options = nullptr);

}  // namespace cairn::codec
