#include "timing/series.h"

#include <algorithm>
#include <numeric>

#include "codec/codec.h"

namespace cairn::timing {

bool well_formed(const BlockCalls &calls, size_t times) {
  if (times != calls.groups.size() || times > kMostBlockCalls) return false;
  uint32_t most = 0;
  for (const uint32_t group : calls.groups) most = std::max(most, group);
  return times == 0 || most < calls.bounds.size();
}

std::vector<uint32_t> order_of(const BlockCalls &calls, Order order) {
  std::vector<uint32_t> numbers(calls.groups.size());
  if (order == Order::as_called) {
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
  }
  std::vector<uint32_t> next(calls.bounds.size() + 1);
  for (const uint32_t group : calls.groups) ++next[group + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (uint32_t call = 0; call < numbers.size(); ++call) numbers[next[calls.groups[call]]++] = call;
  return numbers;
}

namespace {
constexpr int kLevel = 3;
}  // namespace

// Not codec::smallest: that leaves as they are bytes of which zstd makes less than a 128th, as their reader might not
// know how many they are. Ours does.
void put_packed(ByteView plain, Bytes *out) {
  Bytes frame;
  ByteWriter head;
  const bool coded = codec::encode(codec::kZstd, plain, kLevel, &frame) && frame.size() < plain.size();
  head.byte(coded ? codec::kZstd : codec::kRaw);
  if (coded) head.varint(frame.size());
  const ByteView body = coded ? ByteView(frame) : plain;
  out->insert(out->end(), head.view().begin(), head.view().end());
  out->insert(out->end(), body.begin(), body.end());
}

Bytes take_packed(ByteReader &in, size_t size) {
  const codec::Codec *codec = codec::find(in.byte());
  Bytes plain;
  const bool raw = codec != nullptr && codec->id == codec::kRaw;
  const bool zstd = codec != nullptr && codec->id == codec::kZstd;
  const ByteView body = raw ? in.raw(size) : zstd ? in.blob() : ByteView();
  if (in.failed() || (!raw && !zstd) || !codec->decode(body, size, &plain)) {
    in.fail();
    return {};
  }
  return plain;
}

}  // namespace cairn::timing
