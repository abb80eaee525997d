#include "codec/frame.h"

#ifdef __wasm__
#include "codec/unzstd.h"
#else
#include <zstd.h>
#endif

namespace cairn::codec {

bool decode_frame(ByteView frame, std::span<uint8_t> out) {
#ifdef __wasm__
  return unzstd(frame, out);
#else
  const size_t result = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
  return ZSTD_isError(result) == 0U && result == out.size();
#endif
}

}  // namespace cairn::codec
