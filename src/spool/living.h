// Where the processes of a recording that is under way have their arenas: asked of a spool, or of /proc by the number
// of a process: a rank's, its launcher's, or that of `cairn record`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::spool {

/// Cairn's own folders that `place` means: one of them, a place where some lie, or a trace under way, as run.cairn,
/// beside which there is run.cairn.spool.
std::vector<std::string> folders_of(const std::string &place);

/// The folders in which process `pid`, or those that it has begun, hold arenas. Only this user's processes can be seen.
std::vector<std::string> folders_of_process(int pid);

/// The folders in which this user's processes hold arenas that have `place` as their working folder.
std::vector<std::string> folders_of_processes_in(const std::string &place);

}  // namespace cairn::spool
