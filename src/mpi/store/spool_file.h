// Files that the recorder writes, in the spool and elsewhere. Any thread; a descriptor is open only within a call,
// since descriptors belong to the program. Never raises SIGXFSZ (base/file_size.h).
#pragma once

#include <string>

#include "base/bytes.h"
#include "mpi/store/run.h"

namespace cairn::recorder {

/// Writes a new file completely or not at all; errno says why not.
bool write_file(const std::string &path, ByteView bytes);
/// Leaves a line for `cairn record` about why there is no trace.
void leave_reason(const Run &run, const char *reason);

}  // namespace cairn::recorder
