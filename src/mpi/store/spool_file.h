// Files that the recorder writes, in the spool and elsewhere. Any thread; a descriptor is open only within a call,
// since descriptors belong to the program. Never raises SIGXFSZ (base/file_size.h).
#pragma once

#include <string>

#include "base/bytes.h"
#include "mpi/store/run.h"

namespace cairn::recorder {

/// Writes a new file completely or not at all; errno says why not.
bool write_file(const std::string &path, ByteView bytes);
/// Makes the spool where it is missing, as when an earlier job of the same environment has removed it. False if it is
/// not to be trusted: no folder, or another user's.
bool enter_spool(const char *folder);
/// Removes it if nothing is left in it, and with it OUTPUT.spool, which was made for it.
void leave_spool(const Config &config);

/// Leaves a line for `cairn record` about why there is no trace.
void leave_reason(const Run &run, const char *reason);

/// Tells the other processes of the job that this one cannot merge within MPI.
void tell_alone(const Run &run);
void take_back_alone(const Run &run);
/// Whether one of them has told that, as far as the spool can be seen from here.
bool is_told_alone(const Run &run);

/// Leaves a line about why nothing outlives the process, for as long as that matters.
void leave_lost(Run &run, const char *why);
/// What was recorded is handed over: takes that line away.
void remove_lost(const Run &run);

}  // namespace cairn::recorder
