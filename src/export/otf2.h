// A run as an OTF2 archive (Open Trace Format 2, of Score-P, Scalasca and Vampir): a folder with the anchor file
// traces.otf2. docs/export.md says what stands in it.
//
// Written with the library of that name, where it was there when this was built. One location a thread, all of one rank
// at a time: memory for one rank's calls as Walk has it, and for the threads of that rank 2 MiB of events each.
#pragma once

#include <string>

#include "base/result.h"
#include "export/message_ends.h"
#include "export/scope.h"
#include "gpu/file/launches.h"

namespace cairn::exporting {

/// What was written.
struct Otf2Counts {
  uint64_t calls = 0;
  uint64_t events = 0;
  uint64_t locations = 0;
  uint64_t kernels = 0;
  LeftOut left_out;
};

/// Whether this was built with the library.
bool has_otf2();

/// Makes the folder, or takes one that is empty; nothing is left of an archive that could not be written to its end.
/// Fails where calls, or times that the trace has, cannot be read: then all that could be is there, and `counts` says
/// how much. `launches`: of GPUs.
Result<void> write_otf2(Scope *scope, const gpu::Launches &launches, const std::string &folder, Otf2Counts *counts);

}  // namespace cairn::exporting
