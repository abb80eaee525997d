// recover: what a killed process recorded, out of the arena file that it left in the spool.
//
// Done in a process of its own: the file is memory with pointers, of a process that may have died at any instruction,
// so reading it may fail in any way. That costs that process and nothing else. Takes as long as the process would have
// taken to finish; 60 s at most.
#pragma once

#include <string>

#include "base/result.h"
#include "spool/contents.h"

namespace cairn::spool {

/// Without bytes if all that the process recorded has been handed over, or it was killed before it recorded anything.
Result<PartFile> recover(const std::string &arena);

}  // namespace cairn::spool
