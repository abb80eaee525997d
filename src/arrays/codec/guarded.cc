#include "arrays/codec/guarded.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"

namespace cairn::codec {

void write_guarded(ByteView coded, Bytes *out) {
  ByteWriter front;
  front.fixed64(hash64(coded));
  out->insert(out->end(), front.view().begin(), front.view().end());
  out->insert(out->end(), coded.begin(), coded.end());
}

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

}  // namespace cairn::codec
