// Waiting for the processes of a recording that the command has left behind: launchers return before their ranks have
// ended when they are killed or interrupted, and `sh -c 'mpiexec … &'` always does.
#pragma once

#include <cstddef>
#include <string>

namespace cairn::cli {

/// From now on, orphans of the command become children of this process, which can then tell that some are left.
void adopt_orphans();

/// Returns when no process holds an arena, or a file of GPU launches, in the folder. After half a second it says for
/// how many it waits; from then on an interrupt (Ctrl-C, SIGTERM, SIGHUP) ends the wait. Orphans that have not begun to
/// record get a second to do so. How many processes still record.
size_t wait_for_processes(const std::string &folder);

}  // namespace cairn::cli
