// What there is at a path: found by rank 0, told to all.
#pragma once

#include <mpi.h>

#include <string>

#include "arrays/layer/open_files.h"
#include "base/result.h"

namespace cairn::arrays {

/// One line on standard error.
void say(const std::string &path, const std::string &what);
void say(const std::string &path, const Error &error);

int rank_in(MPI_Comm comm);

/// Without the name of a file system that MPI-IO may be given in front ("lustre:").
std::string plain_path(const char *path);

/// What is said of a file that another job writes to.
constexpr const char *kRefused =
    "another job writes to it (or this one has it open for writing already); wait until that has closed it, or write "
    "to "
    "another file";

enum class Found : uint64_t { plain, compressed, damaged, refused };

/// Collective. Puts the index of a compressed file into `opening`; says what is wrong with a damaged one. Who is going
/// to write has the file's lock first: what another job writes until it closes the file is in the index that is read.
Found load(MPI_Comm comm, const char *path, bool writing, Opening *opening);

}  // namespace cairn::arrays
