#include <algorithm>

#include "arrays/codec/array_codec.h"
#include "arrays/codec/codecs.h"

namespace cairn::codec {
namespace {

bool any(Element /*element*/) { return true; }
[[maybe_unused]] bool floats(Element element) { return is_float(element); }

/// Whether the product of the shape is that many bytes, and the reference as long.
bool fits(size_t bytes, const Grid &grid) {
  size_t size = size_of(grid.element);
  const bool empty = std::find(grid.shape.begin(), grid.shape.end(), 0U) != grid.shape.end();
  for (const uint64_t extent : grid.shape) {
    if (empty) break;
    if (extent > bytes / size) return false;
    size *= static_cast<size_t>(extent);
  }
  return (empty ? 0 : size) == bytes && (grid.reference.empty() || grid.reference.size() == bytes);
}

using Encode = bool (*)(ByteView, const Grid &, const ArrayOptions &, Bytes *);
using Decode = bool (*)(ByteView, const Grid &, std::span<uint8_t>);

// No codec sees values that do not fill their shape, and none leaves half of its bytes behind.
template <Encode encode>
bool checked_encode(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out) {
  const size_t before = out->size();
  if (!fits(values.size(), grid)) return false;
  if (encode(values, grid, options, out)) return true;
  out->resize(before);
  return false;
}
template <Decode decode>
bool checked_decode(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  return fits(values.size(), grid) && decode(encoded, grid, values);
}

template <Encode encode, Decode decode>
constexpr ArrayCodec codec(uint8_t id, std::string_view name, bool (*takes)(Element), bool lossy = false) {
  return {id, name, lossy, takes, checked_encode<encode>, checked_decode<decode>};
}

constexpr ArrayCodec kCodecs[] = {
    codec<encode_store, decode_store>(kStore, "store", any),
    codec<encode_xor, decode_xor>(1, "xor", takes_xor),
    codec<encode_zstd_blocks, decode_zstd_blocks>(2, "zstd", any),
#ifdef CAIRN_HAVE_LZ4
    codec<encode_shuffle_lz4, decode_shuffle_lz4>(3, "shuffle+lz4", any),
#endif
    codec<encode_shuffle_zstd, decode_shuffle_zstd>(4, "shuffle+zstd", any),
    codec<encode_delta, decode_delta>(7, "delta", any),
#ifdef CAIRN_HAVE_ZFP
    codec<encode_zfp_lossy, decode_zfp_lossy>(9, "zfp-lossy", floats, true),
#endif
};

}  // namespace

bool refers(uint8_t codec, ByteView encoded) {
  constexpr uint8_t kXorNumber = 1;
  constexpr uint8_t kDeltaNumber = 7;
  if (encoded.empty()) return false;
  if (codec == kXorNumber) return encoded[0] == 1;             // the way
  return codec == kDeltaNumber && (encoded[0] >> 3 & 1) != 0;  // a flag
}

std::span<const ArrayCodec> array_codecs() { return kCodecs; }

const ArrayCodec *find_array_codec(uint8_t id) {
  for (const ArrayCodec &each : kCodecs) {
    if (each.id == id) return &each;
  }
  return nullptr;
}

const ArrayCodec *find_array_codec(std::string_view name) {
  for (const ArrayCodec &each : kCodecs) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

}  // namespace cairn::codec
