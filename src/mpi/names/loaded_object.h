// LoadedObject: what the dynamic linker knows of the object that holds an address. Any thread, takes the linker's lock
// for some microseconds; allocates nothing.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace cairn::recorder {

struct LoadedObject {
  uintptr_t low;
  uintptr_t high;
  uintptr_t load_base;
  bool is_executable;  ///< the program itself
  uint8_t build_id[32];
  uint8_t build_id_size;
  char path[PATH_MAX];

  /// False if no loaded object holds `address`.
  bool locate(uintptr_t address);
  bool locate_executable();
};

/// Whether an object of that name belongs to an MPI library or to this recorder, so that calls made there aren't the
/// program's. Its bindings for Fortran and C++ act for the program and don't count.
bool is_internal_name(const char *path);

/// Whether an object of that name is a binding for Fortran, whose calls the program made in Fortran.
bool is_fortran_binding_name(const char *path);

/// Whether an object of that name is mpi4py's module, whose calls the program made in Python.
bool is_python_binding_name(const char *path);

/// Whether an object of that name is Python's interpreter.
bool is_python_name(const char *path);

/// Whether an object of that name is the C library, which calls main.
bool is_c_library_name(const char *path);

}  // namespace cairn::recorder
