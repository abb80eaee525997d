#include "timing/bins_coder.h"

#include "timing/block_bins.h"

namespace cairn::timing {
namespace {

int width_of(uint32_t count) { return count <= 1U << 8 ? 1 : count <= 1U << 16 ? 2 : 4; }

}  // namespace

void encode_bins(const BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
  const BlockBins bins(calls);
  const int width = width_of(bins.count());
  for (const Member series : kSeries) {
    ByteWriter plain(times.size() * static_cast<size_t>(width));
    const std::vector<uint32_t> numbers = bins.bins_of(times, series);
    for (const uint32_t bin : numbers) plain.fixed(bin, width);
    put_packed(plain.view(), out);
    bins.put_rest(numbers, times, series, out);
  }
}

bool decode_bins(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times) {
  if (!BlockBins::good(calls, times.size())) return false;
  const BlockBins bins(calls);
  const int width = width_of(bins.count());
  ByteReader in(bytes);
  std::vector<uint32_t> numbers(times.size());
  for (const Member series : kSeries) {
    const Bytes plain = take_packed(in, times.size() * static_cast<size_t>(width));
    if (in.failed()) return false;
    ByteReader words(plain);
    for (uint32_t &number : numbers) number = static_cast<uint32_t>(words.fixed(width));
    if (!bins.take_rest(numbers, in, times, series)) return false;
  }
  return in.at_end();
}

}  // namespace cairn::timing
