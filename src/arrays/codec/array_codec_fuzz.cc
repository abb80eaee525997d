// libFuzzer on array codecs: any bytes decode to their values or are refused, and what a codec wrote of any values it
// reads again.
#include <cstdlib>

#include "arrays/codec/array_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace cairn;
  using namespace cairn::codec;
  if (size < 6) return 0;
  const auto codecs = array_codecs();
  const ArrayCodec &codec = codecs[data[0] % codecs.size()];
  const auto element = static_cast<Element>(data[1] % 10);
  if (!codec.takes(element)) return 0;
  const uint64_t shape[] = {data[2] % 16U, 1 + data[3] % 32U, 1 + data[4] % 32U};
  const size_t count = shape[0] * shape[1] * shape[2] * size_of(element);
  const ByteView rest(data + 6, size - 6);
  Bytes values(count);
  for (size_t i = 0; i < count && !rest.empty(); ++i) values[i] = rest[i % rest.size()];
  const Bytes reference(values.rbegin(), values.rend());
  const Grid grid{element, shape, data[5] % 2 == 0 ? ByteView{} : ByteView(reference)};

  Bytes back(count);
  codec.decode(rest, grid, back);

  // Encoding takes longer than refusing: every fourth.
  if (codec.lossy || data[5] % 4 != 3) return 0;
  Bytes encoded;
  if (!codec.encode(values, grid, {}, &encoded)) std::abort();
  if (!codec.decode(encoded, grid, back) || back != values) std::abort();
  return 0;
}
