// Facts about one MPI library that its recorder needs without knowing an mpi.h: abi.cc is generated for each library
// (spec/abi.py) from what the compiler makes of its mpi.h. Plain constant data: any thread, also before static
// initialisation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::recorder {

/// How a constant of the standard has its value in this library. Index of the tables: constant id.
enum class AbiConstant : uint8_t {
  absent,    ///< this library has no such constant
  number,    ///< abi_constant: the word itself (integers and int handles sign-extended)
  address,   ///< the address of the dynamic symbol abi_constant_symbol, plus abi_constant
  variable,  ///< stored in the dynamic symbol (an initialised `extern T *const` or `extern T *`); abi_constant: its
             ///< size
};

extern const AbiConstant abi_constant_form[];
extern const bool abi_has_constant[];
extern const uint64_t abi_constant[];
/// Look it up in the global scope first (RTLD_DEFAULT), then in the library: an executable may hold a copy of the
/// object (R_X86_64_COPY), and then the copy's address is the handle.
extern const char *const abi_constant_symbol[];  ///< nullptr unless address or variable

/// "MPI_Isend" of the functions that this library exports with their PMPI_ twin, by function id; else nullptr.
extern const char *const function_names[];

/// Sizes and offsets in bytes; -1: this library has no such type or field.
struct Abi {
  const char *soname;  ///< "libmpich.so.12"
  bool handles_are_pointers;
  int handle_size;  ///< of MPI_Comm, MPI_Datatype, MPI_Request, …; those of MPI_T are always pointers
  int fint_size;
  int aint_size;
  int count_size;
  int offset_size;
  int status_size;
  int status_source;  ///< offset of MPI_SOURCE, an int
  int status_tag;
  int status_error;
  int status_count_low;   ///< MPICH: int count_lo: low 32 bits of the byte count
  int status_count_high;  ///< MPICH: int count_hi_and_cancelled: bit 0 cancelled, above it the high bits
  int status_count;       ///< Open MPI: size_t _ucount: the byte count
  int status_cancelled;   ///< Open MPI: int _cancelled
  int file_size;          ///< of MPI_File: a pointer in ROMIO, also where other handles are ints
};
extern const Abi abi;

}  // namespace cairn::recorder
