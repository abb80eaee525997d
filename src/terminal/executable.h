// Looks into the programs named on a command line, to say why nothing was recorded. Reads ELF headers only; nothing is
// run.
#pragma once

#include <string>
#include <vector>

#include "terminal/installation.h"

namespace cairn::cli {

struct Executable {
  std::string path;
  bool is_certain = false;             ///< the word stands where a program does; else it may be an option's value
  bool is_dynamic = false;             ///< has an interpreter: LD_PRELOAD reaches it
  bool defines_mpi = false;            ///< MPI_Init lies in the executable itself
  bool defines_fortran = false;        ///< MPI_INIT of Fortran does
  bool is_musl = false;                ///< its loader is musl's, which can load nothing that was linked to glibc
  bool is_privileged = false;          ///< setuid, setgid or with capabilities: its loader ignores LD_PRELOAD
  std::vector<std::string> libraries;  ///< sonames it needs, and what those need, as far as they can be found
};

/// The ELF executables among the words of a command: the first is looked up in PATH, others are files as named.
std::vector<Executable> executables_of(const std::vector<std::string> &command);

/// The file that the word names: looked up in PATH if it has no slash.
std::string in_path(const std::string &word);

/// Whether the word names a file that can be executed, in PATH if it has no slash.
bool can_run(const std::string &word);

/// Whether it loads AddressSanitizer's run-time library.
bool has_asan(const Executable &executable);

/// The soname of the MPI library it uses, or empty.
std::string mpi_of(const Executable &program);

/// One clause that says why no call of it can be recorded; empty if nothing is known against it.
std::string why_not_recorded(const Executable &program, const std::vector<Recorder> &recorders);

/// One clause that says why a recording of `command` is empty, with what to do about it.
std::string why_nothing(const std::vector<std::string> &command, const std::vector<Recorder> &recorders);

}  // namespace cairn::cli
