// What is wrong with a call's arguments taken by themselves: counts below 0, tags and ranks that there are not.
#pragma once

#include <string>

#include "analyze/row_access.h"
#include "analyze/sizes.h"

namespace cairn::check {

/// "tag is -7, dest is 9 in a communicator of 4"; "" if nothing is. `sizes`: of communicators, as far as they are
/// known.
std::string argument_fault(const analyze::RowAccess &access, const analyze::Sizes &sizes);

}  // namespace cairn::check
