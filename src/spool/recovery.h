// recover: what a killed process recorded, out of the arena file that it left in the spool. look_at: what a living one
// is in just now.
//
// Done in a process of its own: the file is memory with pointers, of a process that may have died at any instruction,
// or is changing it, so reading it may fail in any way. That costs that process and nothing else. Takes as long as the
// process would have taken to finish; 60 s at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "spool/contents.h"

namespace cairn::spool {

/// Without bytes if all that the process recorded has been handed over, or it was killed before it recorded anything.
/// `ended_unix_ns`: when the process ended, if somebody knows.
Result<PartFile> recover(const std::string &arena, std::optional<int64_t> ended_unix_ns = std::nullopt);

/// What a look at a living process gave.
struct Sight {
  enum class State : uint8_t {
    none,       ///< it has not begun to record, or has ended meanwhile
    elsewhere,  ///< of another host, whose memory cannot be seen from here
    waiting,    ///< `part` says what its threads are in (mpi/store/pending.h)
    running,    ///< it makes calls all the time; `part` has none
    done,       ///< it is past MPI_Finalize
  };
  State state = State::none;
  PartFile part;
};
/// Writes nothing, takes no lock and holds up nobody. Half a second at most where the process makes calls all the time.
Result<Sight> look_at(const std::string &arena);

}  // namespace cairn::spool
