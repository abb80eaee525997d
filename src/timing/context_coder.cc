#include "timing/context_coder.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "timing/binning.h"
#include "timing/bit_coder.h"
#include "timing/block_bins.h"
#include "timing/mixed_bits.h"

namespace cairn::timing {
namespace {

/// The bits below an exact bin: the highest few are learnt, by bin.
class LowBits {
 public:
  template <typename Coder>
  uint64_t code(Coder &coder, uint64_t value, uint32_t bin, int bits, size_t kind) {
    uint64_t result = 0;
    int left = bits;
    uint32_t node = 1;
    std::array<uint16_t, 8> &counters = counters_[kind * kBins + bin];
    for (; left > 0 && node < 8; --left) {
      uint16_t &counter = counters[node];
      const bool bit = coder.code(std::clamp<uint32_t>(counter, 64, 65472), (value >> (left - 1) & 1) != 0);
      counter = static_cast<uint16_t>(bit ? counter + ((65535 - counter) >> 5) : counter - (counter >> 5));
      node = 2 * node + (bit ? 1 : 0);
      result = 2 * result + (bit ? 1 : 0);
    }
    if (left == 0) return result;
    const uint64_t rest = coder.code_plain(value & ((uint64_t{1} << left) - 1), left);
    return result << left | rest;
  }

 private:
  static constexpr size_t kBins = 256;
  std::vector<std::array<uint16_t, 8>> counters_ =
      std::vector<std::array<uint16_t, 8>>(2 * kBins, {32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768});
};

uint64_t context(uint64_t place, uint64_t more, uint64_t which) {
  const uint64_t mixed = (place * 0x9e3779b97f4a7c15U ^ (more + 1) * 0xc2b2ae3d27d4eb4fU) * 16 + which;
  return (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93U;
}

/// Written once for both ways: `Coder` is a BitEncoder or a BitDecoder.
class Model {
 public:
  explicit Model(const BlockCalls &calls) : bits_(2 * calls.groups.size()) {
    std::map<uint64_t, size_t> numbers;
    for (const uint64_t bound : calls.bounds) {
      const auto [entry, added] = numbers.try_emplace(bound, binnings_.size());
      if (added) binnings_.emplace_back(static_cast<uint32_t>(bound));
      binning_of_.push_back(entry->second);
    }
    last_.resize(std::min(calls.bounds.size() * kPlaces, kMostPlaces));
  }

  template <typename Coder>
  void code(Coder &coder, uint32_t group, CallTime *time) {
    run_ = group == group_ ? std::min<uint32_t>(run_ + 1, kPlaces - 1) : 0;
    group_ = group;
    const uint64_t place = static_cast<uint64_t>(group) * kPlaces + run_;
    const Binning &binning = binnings_[binning_of_[group]];
    std::array<Last, 2> &last = last_[place % kMostPlaces % last_.size()];
    time->gap = one(coder, binning, place, last[0], 0, time->gap);
    time->duration = one(coder, binning, place, last[1], 1, time->duration);
    before_last_place_ = last_place_;
    last_place_ = place + 1;
  }

 private:
  static constexpr size_t kPlaces = 16;  ///< of a group
  static constexpr size_t kMostPlaces = 4096;
  struct Last {
    uint32_t bin = 0;
    uint32_t before = 0;
  };

  template <typename Coder>
  uint64_t one(Coder &coder, const Binning &binning, uint64_t place, Last &last, int kind, uint64_t value) {
    const auto of = [&](uint64_t more, uint64_t which) {
      return context(place, more, 2 * which + static_cast<uint64_t>(kind));
    };
    const MixedBits::Contexts contexts = {of(0, 0),
                                          of(last_place_, 1),
                                          of(last.bin, 2),
                                          of(coded_, 3),
                                          of(last_place_ << 32 ^ before_last_place_, 4),
                                          of(static_cast<uint64_t>(last.bin) << 32 | last.before, 5),
                                          of(coded_before_, 6),
                                          context(0, 0, 14 + static_cast<uint64_t>(kind))};
    uint32_t bin = bits_.code(coder, contexts, binning.bin(value), binning.bits(), kind);
    bin = std::min(bin, binning.count() - 1);  // of bytes that no encoder wrote
    last = {bin, last.bin};
    coded_before_ = coded_;
    coded_ = bin;
    const uint64_t first = binning.value(bin);
    const int extra = binning.extra_bits(bin);
    return extra == 0 ? first : first + low_.code(coder, value - first, bin, extra, static_cast<size_t>(kind));
  }

  MixedBits bits_;
  LowBits low_;
  std::vector<Binning> binnings_;
  std::vector<size_t> binning_of_;
  std::vector<std::array<Last, 2>> last_;
  uint32_t group_ = UINT32_MAX;
  uint32_t run_ = 0;
  uint64_t last_place_ = 0;
  uint64_t before_last_place_ = 0;
  uint32_t coded_ = 0;
  uint32_t coded_before_ = 0;
};

}  // namespace

void encode_context(const BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
  Model model(calls);
  BitEncoder coder(out);
  for (size_t i = 0; i < times.size(); ++i) model.code(coder, calls.groups[i], &times[i]);
  coder.finish();
}

bool decode_context(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times) {
  if (!BlockBins::good(calls, times.size())) return false;
  if (times.empty()) return bytes.empty();
  Model model(calls);
  BitDecoder coder(bytes);
  for (size_t i = 0; i < times.size(); ++i) {
    times[i] = {};
    model.code(coder, calls.groups[i], &times[i]);
    // An encoder leaves out less than nine bytes.
    if (coder.missing() > 16) return false;
  }
  return true;
}

}  // namespace cairn::timing
