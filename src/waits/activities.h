// Activities: what a rank does between two moments, by a number each: it computes before a call, is in other calls
// before it, or is in it. Calls of one function at one place in the source are one.
//
// Example: a rank that goes through a loop of MPI_Send at app.c:9 has the activities "outside MPI before MPI_Send
// app.c:9" and "in MPI_Send app.c:9".
//
// Plain numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyze/places.h"

namespace cairn::waits {

using analyze::Place;
using analyze::Places;

enum class Doing : uint8_t {
  outside,  ///< of MPI, before a call
  others,   ///< in calls that have to do with no other rank, before a call
  inside,   ///< of a call
  after,    ///< outside MPI behind its last call, of a rank that never came to another one
};

/// Four for each place, in the order of Doing.
using Activity = uint32_t;
constexpr Activity kUnknownActivity = UINT32_MAX;
constexpr Activity activity(uint32_t place, Doing doing) { return 4 * place + static_cast<Activity>(doing); }
constexpr uint32_t place_of(Activity activity) { return activity / 4; }
constexpr Doing doing(Activity activity) { return static_cast<Doing>(activity % 4); }
/// As programs read it.
constexpr const char *word_of(Doing doing) {
  constexpr const char *kWords[] = {"outside", "other_calls", "inside", "after"};
  return kWords[static_cast<size_t>(doing)];
}

}  // namespace cairn::waits
