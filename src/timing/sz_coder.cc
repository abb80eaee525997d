#include "timing/sz_coder.h"

#include <algorithm>
#include <array>
#include <bit>

#include "timing/bit_coder.h"
#include "timing/block_bins.h"

namespace cairn::timing {
namespace {

/// How likely a 1 is at one place: the mean of what was there, of the last 255 or so.
class AdaptiveBit {
 public:
  template <typename Coder>
  bool code(Coder &coder, bool bit) {
    bit = coder.code(std::clamp<uint32_t>(one_ >> 16, 1, 65535), bit);
    const int64_t target = bit ? UINT32_MAX : 0;
    one_ = static_cast<uint32_t>(one_ + (target - one_) * 2 / (2 * learnt_ + 3));
    learnt_ = std::min(learnt_ + 1, kMostLearnt);
    return bit;
  }

 private:
  static constexpr int32_t kMostLearnt = 255;
  uint32_t one_ = UINT32_MAX / 2;
  int32_t learnt_ = 0;
};

/// The differences of one series.
class Differences {
 public:
  Differences() : low_((kMostLength + 1) << kModelled) {}

  template <typename Coder>
  int64_t code(Coder &coder, int64_t difference) {
    const uint64_t value = zigzag(difference);
    const auto length = code_bits(coder, lengths_.data(), static_cast<uint32_t>(std::bit_width(value)), kLengthBits);
    if (length < 2) return unzigzag(length);
    const int below = static_cast<int>(length) - 1;
    const int modelled = std::min(below, kModelled);
    const int plain = below - modelled;
    const auto high = static_cast<uint32_t>(value >> plain & ((1U << modelled) - 1));
    const uint64_t first = code_bits(coder, &low_[size_t{length} << kModelled], high, modelled);
    const uint64_t rest = coder.code_plain(value & ((1U << plain) - 1), plain);
    return unzigzag(uint64_t{1} << below | first << plain | rest);
  }

 private:
  static constexpr int kLengthBits = 5;
  static constexpr uint32_t kMostLength = (1U << kLengthBits) - 1;
  static constexpr int kModelled = 10;

  /// The lowest `bits` of a number, with the bits of a tree.
  template <typename Coder>
  static uint32_t code_bits(Coder &coder, AdaptiveBit *tree, uint32_t number, int bits) {
    uint32_t node = 1;
    for (int i = bits - 1; i >= 0; --i) {
      node = 2 * node + (tree[node].code(coder, (number >> i & 1) != 0) ? 1 : 0);
    }
    return node - (1U << bits);
  }

  std::array<AdaptiveBit, kMostLength + 1> lengths_;
  std::vector<AdaptiveBit> low_;
};

/// Of the calls in order, the bin that each is predicted to be in: that of the last time as it is read back.
class LastTime {
 public:
  explicit LastTime(const BlockBins &bins) : bins_(bins) {}
  int64_t predict(size_t call) {
    const Binning &now = bins_.of_call(call);
    // Groups with other bounds number their bins otherwise.
    if (&now != binning_) bin_ = binning_ == nullptr ? 0 : now.bin(binning_->value(bin_));
    binning_ = &now;
    return bin_;
  }
  void learn(uint32_t bin) { bin_ = bin; }

 private:
  const BlockBins &bins_;
  const Binning *binning_ = nullptr;
  uint32_t bin_ = 0;
};

void encode(const BlockCalls &calls, std::span<CallTime> times, Order order, Bytes *out) {
  const BlockBins bins(calls);
  const std::vector<uint32_t> calls_in_order = order_of(calls, order);
  for (const Member series : kSeries) {
    Bytes coded;
    BitEncoder coder(&coded);
    Differences differences;
    LastTime last(bins);
    for (const uint32_t call : calls_in_order) {
      const int64_t predicted = last.predict(call);
      const Binning &binning = bins.of_call(call);
      uint64_t &time = times[call].*series;
      const uint32_t bin = binning.bin(time);
      differences.code(coder, bin - predicted);
      last.learn(bin);
      const uint64_t rest = coder.code_plain(time - binning.value(bin), binning.extra_bits(bin));
      time = binning.value(bin) + (binning.bound() == 0 ? rest : 0);
    }
    coder.finish();
    ByteWriter size;
    size.varint(coded.size());
    out->insert(out->end(), size.view().begin(), size.view().end());
    out->insert(out->end(), coded.begin(), coded.end());
  }
}

bool decode(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times, Order order) {
  if (!BlockBins::good(calls, times.size())) return false;
  const BlockBins bins(calls);
  const std::vector<uint32_t> calls_in_order = order_of(calls, order);
  ByteReader in(bytes);
  for (const Member series : kSeries) {
    const ByteView coded = in.blob();
    if (in.failed()) return false;
    BitDecoder coder(coded);
    Differences differences;
    LastTime last(bins);
    for (const uint32_t call : calls_in_order) {
      const int64_t bin = last.predict(call) + differences.code(coder, 0);
      const Binning &binning = bins.of_call(call);
      if (bin < 0 || bin >= binning.count()) return false;
      const auto number = static_cast<uint32_t>(bin);
      times[call].*series = binning.value(number) + coder.code_plain(0, binning.extra_bits(number));
      last.learn(number);
    }
    if (coder.missing() > sizeof(uint64_t)) return false;
  }
  return in.at_end();
}

}  // namespace

void encode_sz(const BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
  encode(calls, times, Order::as_called, out);
}
bool decode_sz(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times) {
  return decode(calls, bytes, times, Order::as_called);
}
void encode_sz_clustered(const BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
  encode(calls, times, Order::by_group, out);
}
bool decode_sz_clustered(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times) {
  return decode(calls, bytes, times, Order::by_group);
}

}  // namespace cairn::timing
