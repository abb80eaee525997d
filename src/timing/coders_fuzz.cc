// libFuzzer on the coders of blocks: any bytes decode or are refused, and what a coder wrote of any times it reads
// again within their bounds.
#include <cstdlib>

#include "timing/bins_coder.h"
#include "timing/cfg_coder.h"
#include "timing/context_coder.h"
#include "timing/hist_coder.h"
#include "timing/sz_coder.h"
#include "timing/zfp_coder.h"

namespace {

using namespace cairn;
using namespace cairn::timing;

struct Coder {
  Encode encode;
  Decode decode;
  bool relative;
};
constexpr Coder kCoders[] = {
    {encode_context, decode_context, true}, {encode_bins, decode_bins, true},
    {encode_hist, decode_hist, true},       {encode_cfg, decode_cfg, true},
    {encode_sz, decode_sz, true},           {encode_sz_clustered, decode_sz_clustered, true},
    {encode_zfp, decode_zfp, false},        {encode_zfp_clustered, decode_zfp_clustered, false},
};
constexpr size_t kCalls[] = {0, 1, 7, 64, 300, 2000};
// The least relative bound is left out: what it needs takes a millisecond to make.
constexpr uint64_t kRelative[] = {100'000, 10'000, 0, 1'000'000};
constexpr uint64_t kAbsolute[] = {10'000, 1, 0, UINT64_MAX};

bool within(uint64_t exact, uint64_t decoded, uint64_t bound, bool relative) {
  __extension__ using Wide = unsigned __int128;
  const uint64_t off = exact > decoded ? exact - decoded : decoded - exact;
  return relative ? Wide{off} * 1'000'000 <= Wide{exact} * bound : off <= bound;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  const Coder &coder = kCoders[data[0] % std::size(kCoders)];
  const size_t count = kCalls[data[1] % std::size(kCalls)];
  const unsigned pattern = data[2] % 4U;
  const bool encodes = data[2] % 8U == 4;
  const ByteView rest(data + 3, size - 3);

  std::vector<uint64_t> bounds;
  for (unsigned group = 0; group < 6; ++group) {
    const unsigned bound = (data[2] / 8U + (pattern == 3 ? group : 0)) % 4;
    bounds.push_back((coder.relative ? kRelative : kAbsolute)[bound]);
  }
  std::vector<uint32_t> groups(count);
  for (uint32_t call = 0; call < count; ++call) {
    groups[call] = pattern == 0 ? 0 : pattern == 1 ? call % 6 : pattern == 2 ? call * call / 7 % 6 : call / 5 % 6;
  }
  const BlockCalls calls{groups, bounds};

  std::vector<CallTime> back(count);
  coder.decode(calls, rest, back);

  if (!encodes) return 0;
  std::vector<CallTime> times(count);
  for (size_t call = 0; call < count && !rest.empty(); ++call) {
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) value = value << 8 | rest[(call * 5 + i) % rest.size()];
    times[call] = {value >> (rest[call % rest.size()] % 64), value};
  }
  Bytes bytes;
  std::vector<CallTime> told = times;
  coder.encode(calls, told, &bytes);
  if (!coder.decode(calls, bytes, back) || back != told) std::abort();
  for (size_t call = 0; call < count; ++call) {
    const uint64_t bound = bounds[groups[call]];
    if (!within(times[call].gap, back[call].gap, bound, coder.relative)) std::abort();
    if (!within(times[call].duration, back[call].duration, bound, coder.relative)) std::abort();
  }
  return 0;
}
