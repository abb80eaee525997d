// What the codec "delta" does with a box: which integers stand for the values, what is predicted from what, and which
// value is missing data. It is chosen from a sample, by estimated size, and stands in front of the box's bytes.
//
// Trying plans on the box itself would be encoding it as often as there are plans. What a sample misjudges costs bytes,
// never a value.
#pragma once

#include "arrays/codec/array_codec.h"
#include "arrays/codec/delta_map.h"
#include "arrays/codec/delta_predict.h"

namespace cairn::codec {

struct DeltaPlan {
  ValueMap map;
  Lags lags;
  bool by_reference = false;  ///< integers are those of the values less those of the reference
  bool has_fill = false;      ///< one value is kept in a mask, not among the residuals
  uint64_t fill = 0;          ///< its bits
  double bits = 0;            ///< estimated for each value; not written
};

/// Cost: some thousand values are looked at, 0.1 to 0.3 ms. `values` may be empty or unaligned.
DeltaPlan choose_delta_plan(ByteView values, const Grid &grid);

void write_plan(const DeltaPlan &plan, Element element, Bytes *out);
/// False if it is not a plan for that many elements.
bool read_plan(ByteReader &in, Element element, size_t count, bool has_reference, DeltaPlan *plan);

/// The step and base of numbers that are all multiples of one step above one base, as values that were packed into
/// integers or rounded to decimals are, within what rounding to `digits` bits of mantissa does. False if they are not,
/// or if the step is not well above that.
bool find_step(std::vector<double> numbers, int digits, double *base, double *step);

}  // namespace cairn::codec
