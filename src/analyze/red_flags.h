// Red flags: parameters whose length grows with the number of ranks (ScalaTrace's term). A call that has one, an
// Alltoallv's counts or a Waitall over one request a peer, costs more for every rank that a run gets.
//
// From one trace: an array of counts, displacements or datatypes as long as the call's communicator, or any other array
// with one or two elements for each rank, or for each other rank, in a run of at least 8.
#pragma once

#include <vector>

#include "analyze/filter.h"
#include "analyze/summary.h"

namespace cairn::analyze {

/// One flag a parameter of a function: its longest.
std::vector<RedFlag> find_red_flags(const trace::Trace &trace, const Sources &sources, const Filter &filter);

}  // namespace cairn::analyze
