#include <algorithm>
#include <cstring>

#include "arrays/codec/codecs.h"
#include "arrays/codec/stream.h"

namespace cairn::codec {
namespace {

/// A frame each: a box has any size, but what is held beside it has not.
constexpr size_t kBlock = size_t{4} << 20;

}  // namespace

bool encode_store(ByteView values, const Grid & /*grid*/, const ArrayOptions & /*options*/, Bytes *out) {
  out->insert(out->end(), values.begin(), values.end());
  return true;
}

bool decode_store(ByteView encoded, const Grid & /*grid*/, std::span<uint8_t> values) {
  if (encoded.size() != values.size()) return false;
  if (!values.empty()) memcpy(values.data(), encoded.data(), values.size());
  return true;
}

bool encode_zstd_blocks(ByteView values, const Grid & /*grid*/, const ArrayOptions &options, Bytes *out) {
  StreamWriter writer(StreamMethod::zstd, options.level == 0 ? 1 : options.level);
  for (size_t at = 0; at < values.size(); at += kBlock)
    writer.write(values.subspan(at, std::min(kBlock, values.size() - at)), out);
  return true;
}

bool decode_zstd_blocks(ByteView encoded, const Grid & /*grid*/, std::span<uint8_t> values) {
  StreamReader reader(StreamMethod::zstd);
  ByteReader in(encoded);
  for (size_t at = 0; at < values.size(); at += kBlock) {
    if (!reader.read(in, values.subspan(at, std::min(kBlock, values.size() - at)))) return false;
  }
  return in.at_end();
}

}  // namespace cairn::codec
