#include "timing/block_bins.h"

#include <algorithm>
#include <cassert>

#include "timing/bit_packer.h"

namespace cairn::timing {
namespace {

std::vector<uint64_t> different(std::span<const uint64_t> bounds) {
  std::vector<uint64_t> sorted(bounds.begin(), bounds.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

}  // namespace

bool BlockBins::good(const BlockCalls &calls, size_t times) {
  if (!well_formed(calls, times)) return false;
  for (const uint64_t bound : calls.bounds) {
    if (bound != 0 && (bound < kLeastBound || bound > kMostBound)) return false;
  }
  return different(calls.bounds).size() <= kMostBounds;
}

BlockBins::BlockBins(const BlockCalls &calls) : calls_(calls) {
  const std::vector<uint64_t> bounds = different(calls.bounds);
  assert(bounds.size() <= kMostBounds);
  binnings_.reserve(bounds.size());
  for (const uint64_t bound : bounds) {
    binnings_.emplace_back(static_cast<uint32_t>(bound));
    count_ = std::max(count_, binnings_.back().count());
  }
  for (const uint64_t bound : calls.bounds) {
    const auto at = std::lower_bound(bounds.begin(), bounds.end(), bound) - bounds.begin();
    of_group_.push_back(&binnings_[static_cast<size_t>(at)]);
  }
}

std::vector<uint32_t> BlockBins::bins_of(std::span<const CallTime> times, Member series) const {
  std::vector<uint32_t> bins(times.size());
  for (size_t call = 0; call < bins.size(); ++call) bins[call] = of_call(call).bin(times[call].*series);
  return bins;
}

void BlockBins::put_rest(std::span<const uint32_t> bins, std::span<CallTime> times, Member series, Bytes *out) const {
  BitPacker rest;
  for (size_t call = 0; call < bins.size(); ++call) {
    const Binning &binning = of_call(call);
    uint64_t &time = times[call].*series;
    if (binning.bound() == 0) {
      rest.put(time - binning.value(bins[call]), binning.extra_bits(bins[call]));
    } else {
      time = binning.value(bins[call]);
    }
  }
  const Bytes bytes = rest.finish();
  out->insert(out->end(), bytes.begin(), bytes.end());
}

bool BlockBins::take_rest(std::span<const uint32_t> bins, ByteReader &in, std::span<CallTime> times,
                          Member series) const {
  uint64_t bits = 0;
  for (size_t call = 0; call < bins.size(); ++call) {
    const Binning &binning = of_call(call);
    if (bins[call] >= binning.count()) return false;
    times[call].*series = binning.value(bins[call]);
    bits += static_cast<uint64_t>(binning.extra_bits(bins[call]));
  }
  const ByteView bytes = in.raw(bytes_for(bits));
  if (in.failed()) return false;
  if (bits == 0) return true;
  BitUnpacker rest(bytes);
  for (size_t call = 0; call < bins.size(); ++call) {
    times[call].*series += rest.take(of_call(call).extra_bits(bins[call]));
  }
  return true;
}

}  // namespace cairn::timing
