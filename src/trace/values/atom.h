// Atoms: what the values of a call's parameters are made of.
//
// An atom is a signed 64-bit integer. 4,096 values at the bottom of the range are *specials*: markers and named
// constants, so that MPI_PROC_NULL is the same atom whichever MPI was traced and never takes part in arithmetic along
// ranks. An ordinary value that happens to lie in that range is written as kRaw followed by two atoms, its
// high and low 32 bits.
#pragma once

#include <cstdint>

namespace cairn::trace {

using Atom = int64_t;

constexpr Atom kSpecialFirst = INT64_MIN;
constexpr Atom kSpecialLast = INT64_MIN + 4095;

constexpr Atom special(uint16_t code) { return kSpecialFirst + code; }
constexpr bool is_special(Atom atom) { return atom <= kSpecialLast; }
/// The code of a special atom.
constexpr uint16_t special_code(Atom atom) { return static_cast<uint16_t>(atom - kSpecialFirst); }

constexpr Atom kHole = special(0);      ///< in a column: this rank has no value
constexpr Atom kRaw = special(1);       ///< the next two atoms are high and low 32 bits
constexpr Atom kNull = special(2);      ///< a NULL pointer where a pointer may be NULL
constexpr Atom kImplied = special(3);   ///< an outcome equal to what the call implies
constexpr Atom kUnknown = special(4);   ///< a handle or address never seen created; a number follows
constexpr Atom kNoReturn = special(5);  ///< in the return field: the call never returned
/// A whole field: the running sums of the numbers in the field before, 0, c0, c0 + c1, … (derived_values.h)
constexpr Atom kPrefixSums = special(6);
constexpr Atom kAsLeft = special(7);  ///< in no file: requests that only who reads all calls in order knows

/// Address classes: the first of the three atoms (class, number, offset) of a buffer.
constexpr Atom kHeap = special(16);       ///< number: segment, lowest free when MPI first sees it
constexpr Atom kStatic = special(17);     ///< number: module; offset in the module
constexpr Atom kStack = special(18);      ///< offset from the thread's stack at its first MPI call
constexpr Atom kMapping = special(19);    ///< number: mapping in order of first sight
constexpr Atom kMpiMemory = special(20);  ///< allocated by MPI (Alloc_mem, Win_allocate, …)
constexpr Atom kDevice = special(21);     ///< GPU memory
constexpr Atom kInteger = special(22);    ///< an address-like integer that lies in no segment

/// kRequests + d, d from 1 to kMostDistance, begins an array of requests that calls drain (request_arrays.h).
constexpr Atom kRequests = special(32);
constexpr Atom kMostDistance = 15;

/// Named MPI constants are special(kFirstConstant + id), with the ids of spec/constants.
constexpr uint16_t kFirstConstant = 64;
constexpr Atom constant_atom(int id) { return special(static_cast<uint16_t>(kFirstConstant + id)); }

/// The one of them that the format itself gives a meaning: MPI_REQUEST_NULL, what stands in an array of requests where
/// one has completed (request_arrays.h). Recorders check that this is its id in spec/.
constexpr Atom kRequestNull = special(kFirstConstant + 5);

}  // namespace cairn::trace
