// The identity of a module file, as the recorder wrote it down for the module it saw in memory: the GNU build-id, or
// for files without one a hash of the ELF header, the program headers and the size.
#pragma once

#include <string>

#include "base/bytes.h"

namespace cairn::analyze {

/// The recorder's substitute for a missing build-id; empty if the file is no ELF file of this machine's word size.
Bytes hashed_module_id(const std::string &path);

}  // namespace cairn::analyze
