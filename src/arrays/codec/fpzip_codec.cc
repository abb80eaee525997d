#include <fpzip.h>

#include <climits>

#include "arrays/codec/codecs.h"
#include "arrays/codec/guarded.h"

namespace cairn::codec {
namespace {

/// Closes what fpzip opened.
struct Close {
  void operator()(FPZ *stream) const { close(stream); }
  void (*close)(FPZ *) = nullptr;
};
using Stream = std::unique_ptr<FPZ, Close>;

bool set(FPZ *stream, const Grid &grid, const Extents &extents) {
  stream->type = grid.element == Element::f32 ? FPZIP_TYPE_FLOAT : FPZIP_TYPE_DOUBLE;
  stream->prec = 0;
  int of[3] = {1, 1, 1};  // the fastest first
  for (size_t i = 0; i < extents.count; ++i) {
    if (extents.of[i] > INT_MAX) return false;
    of[extents.count - 1 - i] = static_cast<int>(extents.of[i]);
  }
  stream->nx = of[0];
  stream->ny = of[1];
  stream->nz = of[2];
  stream->nf = 1;
  return true;
}

/// No value takes more: a class of at most 16 bits, and all its bits.
size_t most_bytes(size_t bytes) { return 2 * bytes + 1024; }

}  // namespace

bool encode_fpzip(ByteView values, const Grid &grid, const ArrayOptions & /*options*/, Bytes *out) {
  if (!is_float(grid.element)) return false;
  if (values.empty()) return true;
  Bytes room(most_bytes(values.size()));
  const Stream stream(fpzip_write_to_buffer(room.data(), room.size()), {fpzip_write_close});
  if (stream == nullptr || !set(stream.get(), grid, at_most(3, grid.shape))) return false;
  const size_t size = fpzip_write(stream.get(), values.data());
  if (size == 0 || size > room.size()) return false;
  write_guarded(ByteView(room).first(size), out);
  return true;
}

bool decode_fpzip(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  if (!is_float(grid.element)) return false;
  if (values.empty()) return encoded.empty();
  const auto bytes = read_guarded(encoded, most_bytes(values.size()));
  if (bytes == nullptr) return false;
  const Stream stream(fpzip_read_from_buffer(bytes.get()), {fpzip_read_close});
  return stream != nullptr && set(stream.get(), grid, at_most(3, grid.shape)) &&
         fpzip_read(stream.get(), values.data()) != 0;
}

}  // namespace cairn::codec
