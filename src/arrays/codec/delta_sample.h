// A sample of a box, on which plans for the codec "delta" are tried: short runs of its values, and for each what stands
// at every sum of steps along axes before it, so that any lags can be tried on it. The values are read once, and each
// mapping is tried on all of them.
//
// Owner: whoever chooses a plan, for one box. Memory: 100 kB to 500 kB, freed with it. Nothing throws or prints.
#pragma once

#include <vector>

#include "arrays/codec/delta_plan.h"
#include "arrays/codec/reused.h"

namespace cairn::codec {

template <typename Word>
class DeltaSample {
 public:
  DeltaSample(ByteView values, const Grid &grid);

  /// The plan with the lags that are best for it, and its bits.
  DeltaPlan with_best_lags(const DeltaPlan &plan);
  /// The plan as it is, with its bits.
  DeltaPlan with_its_lags(const DeltaPlan &plan);

  /// The values themselves, without what stands before them.
  [[nodiscard]] ByteView values() const { return {raw_.get(), total_ * size_}; }

 private:
  /// What a plan makes of the sample: integers and what is missing, in windows of total_ each.
  void map(const DeltaPlan &plan);
  void count_beside(const DeltaPlan &plan);
  /// Makes of each window its difference to that of the same place one step before.
  void take_lag(size_t step);
  [[nodiscard]] double mean_bits(size_t step) const;
  [[nodiscard]] double mean_bits() const;
  /// From what is left in the first window.
  [[nodiscard]] double bits();
  template <typename Run>
  void each_run(Run run) const;
  void fill(ByteView from, uint8_t *to) const;

  Element element_;
  size_t size_;                 ///< of an element
  size_t run_;                  ///< values in a row
  size_t total_;                ///< values of a window
  std::vector<size_t> steps_;   ///< one along each axis that has more than one
  std::vector<size_t> firsts_;  ///< of the runs, in the box
  Reused<uint8_t> raw_;
  Reused<uint8_t> reference_;
  Reused<Word> integers_;
  Reused<Word> others_;
  Reused<Word> tails_;
  Reused<uint8_t> missing_;
  Reused<uint8_t> fills_;
  Reused<uint8_t> widths_;
  Reused<uint8_t> corrections_;
  double beside_ = 0;   ///< bits of a value beside its residual: tail, correction, exception, mask
  double present_ = 1;  ///< the share of the values that are not the fill
};

}  // namespace cairn::codec
