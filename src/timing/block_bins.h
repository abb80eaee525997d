// BlockBins: the times of a block as the numbers of their bins (binning.h), and back, each call by the bound of its
// group; a bound of 0 is exact.
//
// Made for a block, of which it keeps a view; then immutable, any thread. One Binning for each different bound: making
// one costs microseconds, of the least bound a millisecond.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "timing/binning.h"
#include "timing/block.h"
#include "timing/series.h"

namespace cairn::timing {

class BlockBins {
 public:
  /// More different bounds no block may have: a hostile one could make a Binning for each call.
  static constexpr size_t kMostBounds = 256;
  /// Whether the block is one: what a decoder asks, and an encoder's caller sees to.
  static bool good(const BlockCalls &calls, size_t times);

  explicit BlockBins(const BlockCalls &calls);

  /// Of all calls the greatest.
  [[nodiscard]] uint32_t count() const { return count_; }
  [[nodiscard]] const Binning &of_call(size_t call) const { return *of_group_[calls_.groups[call]]; }

  [[nodiscard]] std::vector<uint32_t> bins_of(std::span<const CallTime> times, Member series) const;

  /// Appends what tells exact times of a bin apart (BitPacker), if there are any such calls, and replaces the others by
  /// what they are read back as.
  void put_rest(std::span<const uint32_t> bins, std::span<CallTime> times, Member series, Bytes *out) const;
  /// The times, from their bins and from what `put_rest` wrote. False if there is no such bin.
  bool take_rest(std::span<const uint32_t> bins, ByteReader &in, std::span<CallTime> times, Member series) const;

 private:
  BlockCalls calls_;
  std::vector<Binning> binnings_;
  std::vector<const Binning *> of_group_;
  uint32_t count_ = 0;
};

}  // namespace cairn::timing
