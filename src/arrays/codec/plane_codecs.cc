#include <algorithm>

#include "arrays/codec/codecs.h"
#include "arrays/codec/reused.h"
#include "arrays/codec/shuffle.h"
#include "arrays/codec/stream.h"

namespace cairn::codec {
namespace {

// LZ4 looks back 64 KiB, and likes its source in the first cache: small blocks, a stream for each plane. A block of
// zstd is 128 KiB: with these, every plane of four-byte elements is one, with Huffman codes of its own.
constexpr size_t kLz4Block = size_t{128} << 10;
constexpr size_t kZstdBlock = size_t{512} << 10;

constexpr size_t block_of(StreamMethod method) { return method == StreamMethod::lz4 ? kLz4Block : kZstdBlock; }

/// The streams of a block: for LZ4 one for every plane of bytes, else one.
size_t stream_size(StreamMethod method, size_t block, size_t width) {
  return method == StreamMethod::lz4 ? block / width : block;
}

bool encode_planes(StreamMethod method, ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out) {
  const size_t width = size_of(grid.element);
  if (values.size() % width != 0) return false;
  StreamWriter writer(method, options.level == 0 ? 1 : options.level);
  const Reused<uint8_t> planes(std::min(values.size(), block_of(method)));
  for (size_t at = 0; at < values.size(); at += block_of(method)) {
    const size_t size = std::min(block_of(method), values.size() - at);
    to_byte_planes(values.data() + at, size / width, width, planes.get());
    const size_t each = stream_size(method, size, width);
    for (size_t plane = 0; plane < size; plane += each) writer.write({planes.get() + plane, each}, out);
  }
  return true;
}

bool decode_planes(StreamMethod method, ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  const size_t width = size_of(grid.element);
  if (values.size() % width != 0) return false;
  StreamReader reader(method);
  ByteReader in(encoded);
  const Reused<uint8_t> planes(std::min(values.size(), block_of(method)));
  for (size_t at = 0; at < values.size(); at += block_of(method)) {
    const size_t size = std::min(block_of(method), values.size() - at);
    const size_t each = stream_size(method, size, width);
    for (size_t plane = 0; plane < size; plane += each) {
      if (!reader.read(in, {planes.get() + plane, each})) return false;
    }
    from_byte_planes(planes.get(), size / width, width, values.data() + at);
  }
  return in.at_end();
}

}  // namespace

bool encode_shuffle_lz4(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out) {
  return encode_planes(StreamMethod::lz4, values, grid, options, out);
}
bool decode_shuffle_lz4(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  return decode_planes(StreamMethod::lz4, encoded, grid, values);
}
bool encode_shuffle_zstd(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out) {
  return encode_planes(StreamMethod::zstd, values, grid, options, out);
}
bool decode_shuffle_zstd(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  return decode_planes(StreamMethod::zstd, encoded, grid, values);
}

}  // namespace cairn::codec
