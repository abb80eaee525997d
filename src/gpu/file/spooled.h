// What a process under `cairn record` leaves of its GPU launches in the spool: `<host>.<pid>.gpu`. `cairn record` joins
// these files and adds them to the trace.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "gpu/file/launches.h"

namespace cairn::gpu {

struct Spooled {
  uint32_t rank = 0;
  Launches launches;
};

std::string spooled_path(const std::string &spool, int pid);
Bytes write_spooled(const Launches &launches, uint32_t rank);
Result<Spooled> read_spooled(ByteView bytes);

}  // namespace cairn::gpu
