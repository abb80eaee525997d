#include "timing/hist_coder.h"

#include <algorithm>

#include "base/as_size.h"
#include "timing/bit_packer.h"
#include "timing/block_bins.h"

namespace cairn::timing {
namespace {

constexpr uint32_t kMostCodeBits = 16;
constexpr uint32_t kNoCode = UINT32_MAX;

/// The bins that get codes: most often first, of equals the lower one.
std::vector<uint32_t> coded_bins(std::span<const uint32_t> bins, uint32_t count, const HistChoice &choice) {
  std::vector<uint32_t> often(count);
  for (const uint32_t bin : bins.first(static_cast<size_t>(std::min<uint64_t>(bins.size(), choice.samples)))) {
    ++often[bin];
  }
  std::vector<uint32_t> coded;
  for (uint32_t bin = 0; bin < count; ++bin) {
    if (often[bin] > 0) coded.push_back(bin);
  }
  std::stable_sort(coded.begin(), coded.end(), [&](uint32_t a, uint32_t b) { return often[a] > often[b]; });
  coded.resize(std::min(coded.size(), size_t{1} << choice.code_bits));
  return coded;
}

bool decode_series(const BlockBins &bins, int code_bits, ByteReader &in, std::span<CallTime> times, Member series) {
  const size_t codes = in.count();
  if (in.failed() || codes > size_t{1} << code_bits) return false;
  std::vector<uint32_t> coded(codes);
  for (uint32_t &bin : coded) bin = static_cast<uint32_t>(std::min<uint64_t>(in.varint(), UINT32_MAX));
  const Bytes flag_bytes = take_packed(in, bytes_for(times.size()));
  if (in.failed()) return false;
  std::vector<bool> has_code(times.size());
  size_t with_code = 0;
  BitUnpacker flags(flag_bytes);
  for (size_t call = 0; call < times.size(); ++call) {
    has_code[call] = flags.take(1) != 0;
    with_code += has_code[call] ? 1 : 0;
  }
  const Bytes code_bytes = take_packed(in, bytes_for(with_code * static_cast<uint64_t>(code_bits)));
  if (in.failed()) return false;
  const Bytes exact_bytes = take_packed(in, 8 * (times.size() - with_code));
  if (in.failed()) return false;
  BitUnpacker code_of(code_bytes);
  ByteReader exact(exact_bytes);
  for (size_t call = 0; call < times.size(); ++call) {
    if (!has_code[call]) {
      times[call].*series = exact.fixed64();
      continue;
    }
    const uint64_t code = code_of.take(code_bits);
    const Binning &binning = bins.of_call(call);
    if (code >= codes || coded[as_size(code)] >= binning.count()) return false;
    times[call].*series = binning.value(coded[as_size(code)]);
  }
  return true;
}

}  // namespace

void encode_hist(const BlockCalls &calls, std::span<CallTime> times, const HistChoice &choice, Bytes *out) {
  const BlockBins bins(calls);
  ByteWriter head;
  head.varint(choice.code_bits);
  head.varint(choice.samples);
  for (const Member series : kSeries) {
    const std::vector<uint32_t> numbers = bins.bins_of(times, series);
    const std::vector<uint32_t> coded = coded_bins(numbers, bins.count(), choice);
    std::vector<uint32_t> code_of(bins.count(), kNoCode);
    head.varint(coded.size());
    for (uint32_t code = 0; code < coded.size(); ++code) {
      code_of[coded[as_size(code)]] = code;
      head.varint(coded[as_size(code)]);
    }
    BitPacker flags;
    BitPacker codes;
    ByteWriter exact;
    for (size_t call = 0; call < times.size(); ++call) {
      const Binning &binning = bins.of_call(call);
      const uint32_t code = binning.bound() == 0 ? kNoCode : code_of[numbers[call]];
      flags.put(code != kNoCode ? 1 : 0, 1);
      uint64_t &time = times[call].*series;
      if (code != kNoCode) {
        codes.put(code, static_cast<int>(choice.code_bits));
        time = binning.value(numbers[call]);
      } else {
        exact.fixed64(time);
      }
    }
    out->insert(out->end(), head.view().begin(), head.view().end());
    head.clear();
    put_packed(flags.finish(), out);
    put_packed(codes.finish(), out);
    put_packed(exact.view(), out);
  }
}

void encode_hist(const BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
  encode_hist(calls, times, HistChoice{}, out);
}

bool decode_hist(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times) {
  if (!BlockBins::good(calls, times.size())) return false;
  ByteReader in(bytes);
  const uint64_t code_bits = in.varint();
  in.varint();  // M is of no use here
  if (in.failed() || code_bits < 1 || code_bits > kMostCodeBits) return false;
  const BlockBins bins(calls);
  for (const Member series : kSeries) {
    if (!decode_series(bins, static_cast<int>(code_bits), in, times, series)) return false;
  }
  return in.at_end();
}

}  // namespace cairn::timing
