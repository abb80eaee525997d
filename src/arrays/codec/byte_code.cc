#include "arrays/codec/byte_code.h"

#include <array>

#include "arrays/codec/code_lanes.h"

namespace cairn::codec {

void write_byte_codes(ByteView plain, uint8_t *room, Bytes *out) {
  // Four counters, since one that was just written is not yet there to be read.
  std::array<std::array<uint32_t, 256>, 4> counts = {};
  size_t i = 0;
  for (; i + 4 <= plain.size(); i += 4) {
    ++counts[0][plain[i]];
    ++counts[1][plain[i + 1]];
    ++counts[2][plain[i + 2]];
    ++counts[3][plain[i + 3]];
  }
  for (; i < plain.size(); ++i) ++counts[0][plain[i]];
  for (size_t s = 0; s < 256; ++s) counts[0][s] += counts[1][s] + counts[2][s] + counts[3][s];
  const HuffmanCode code = HuffmanCode::of(counts[0]);
  code.write(out);
  std::array<uint32_t, 256> codes;
  lay_out(code, codes.data());
  write_code_lanes(plain.data(), plain.size(), codes.data(), room, out);
}

bool read_byte_codes(ByteReader &in, std::span<uint8_t> plain) {
  HuffmanCode code;
  if (!code.read(in)) return false;
  CodeTable table;
  fill_table(code, {}, &table);
  return read_code_lanes(in, &table, plain.data(), plain.size());
}

}  // namespace cairn::codec
