// Where the injected library, the recorders and programs of our own lie: beside an installed cairn, or in the build
// folder it runs from.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

/// libcairn.so: $CAIRN_LIB, else relative to this executable. Absolute.
Result<std::string> find_library();

/// A program of ours that `cairn` becomes, as "cairn-arrays", relative to this executable. `needs`: what it is not
/// built without, or nullptr.
Result<std::string> find_program(const std::string &name, const char *needs);

/// The folder of an installation's data that has the file `marker`, as share/cairn/report, relative to this executable.
Result<std::string> find_data(const std::string &folder, const char *marker);

struct Recorder {
  std::string soname;  ///< of the MPI library it is for, as "libmpich.so.12"
  std::string path;    ///< of its libcairn-recorder.so
};
/// The recorders that the library at `library` can open, by soname.
std::vector<Recorder> find_recorders(const std::string &library);
/// The one that serves the MPI library of that soname, its own or that of another with the same binary interface
/// (base/mpi_abi.h); nullptr if none does.
const Recorder *recorder_for(const std::string &soname, const std::vector<Recorder> &recorders);

}  // namespace cairn::cli
