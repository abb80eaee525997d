// Values that a row does not write out because they follow from others.
//
// Displacements that are the running sums of the counts before them (MPI_Alltoallv of data that lies without gaps) are
// one special, kPrefixSums: one atom instead of one for each process. Readers of whole calls (Trace::row, CallReader,
// counted_rows) put the numbers in their place, so nobody else meets it. O(n).
#pragma once

#include "trace/model/record.h"

namespace cairn::trace {

/// Where `row` has kPrefixSums, the sums of the field before: 0, c0, c0 + c1, … What no recorder wrote (the field
/// before holds anything but numbers from 0 up) stays as it is.
void expand_prefix_sums(Row *row);

}  // namespace cairn::trace
