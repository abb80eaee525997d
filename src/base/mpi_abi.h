// MPI libraries of one binary interface, under whatever names: what was compiled against one runs with another, and so
// does a recorder.
//
// MPICH, Intel MPI, MVAPICH, Cray's and others have agreed on one (MPICH ABI Compatibility Initiative), whose libraries
// are libmpi.so.12, libmpich.so.12, libmpi_cray.so.12, libmpi_gnu_91.so.12 and the like. Functions that one of them
// lacks are not there. Open MPI's interface is libmpi.so.40. The one that MPI 5.0 defines (libmpi_abi.so) has values of
// its own for handles and constants, and needs a recorder compiled against its header.
//
// Plain functions: the preloaded library has no C++ run-time library.
#pragma once

#include <cstring>

namespace cairn {

inline bool has_mpich_abi(const char *soname) {
  constexpr char kFront[] = "libmpi";
  constexpr char kEnd[] = ".so.12";
  const size_t length = strlen(soname);
  return strncmp(soname, kFront, sizeof kFront - 1) == 0 && length > sizeof kEnd - 1 &&
         strcmp(soname + length - (sizeof kEnd - 1), kEnd) == 0;
}

/// Whether the recorder for one library serves the other.
inline bool same_mpi_abi(const char *soname, const char *other) {
  return strcmp(soname, other) == 0 || (has_mpich_abi(soname) && has_mpich_abi(other));
}

/// What the recorder that serves a library may be called, besides by that library's own name; ends with nullptr.
inline constexpr const char *kMpichAbiNames[] = {"libmpich.so.12", "libmpi.so.12", "libmpi_cray.so.12", nullptr};

}  // namespace cairn
