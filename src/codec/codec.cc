#include "codec/codec.h"

#include <array>

#include "base/as_size.h"
#include "codec/frame.h"

namespace cairn::codec {
namespace {

bool decode_raw(ByteView encoded, size_t size, Bytes *out) {
  if (encoded.size() != size) return false;
  out->insert(out->end(), encoded.begin(), encoded.end());
  return true;
}

bool decode_zstd(ByteView encoded, size_t size, Bytes *out) {
  Bytes frame(kMagic.begin(), kMagic.end());
  frame.insert(frame.end(), encoded.begin(), encoded.end());
  const size_t before = out->size();
  out->resize(before + size);
  const bool good = decode_frame(frame, std::span(*out).subspan(before));
  if (!good) out->resize(before);
  return good;
}

bool decode_numbers(ByteView encoded, size_t size, Bytes *out) {
  ByteReader head(encoded);
  const uint64_t middle_size = head.varint();
  // A difference can be one byte longer than its number, or up to nine shorter.
  if (head.failed() || middle_size > 2 * static_cast<uint64_t>(size) || middle_size > decoded_bound(encoded.size()))
    return false;
  Bytes middle;
  if (!decode_zstd(encoded.subspan(head.position()), as_size(middle_size), &middle)) return false;
  const size_t before = out->size();
  ByteReader in(middle);
  uint64_t previous = 0;
  bool good = true;
  while (good && !in.at_end()) {
    previous += static_cast<uint64_t>(in.signed_varint());
    uint8_t bytes[kMaxVarint];
    uint8_t *end = put_varint(bytes, previous);
    good = !in.failed() && static_cast<size_t>(end - bytes) <= size - (out->size() - before);
    if (good) out->insert(out->end(), bytes, end);
  }
  good = good && out->size() - before == size;
  if (!good) out->resize(before);
  return good;
}

constexpr std::array<Codec, 3> kCodecs = {{
    {kRaw, decode_raw},
    {kZstd, decode_zstd},
    {kNumbers, decode_numbers},
}};

}  // namespace

const Codec *find(uint8_t id) {
  for (const Codec &codec : kCodecs) {
    if (codec.id == id) return &codec;
  }
  return nullptr;
}

bool decode(uint8_t id, ByteView encoded, uint64_t size, Bytes *out) {
  const Codec *codec = find(id);
  return codec != nullptr && size <= decoded_bound(encoded.size()) && codec->decode(encoded, as_size(size), out);
}

}  // namespace cairn::codec
