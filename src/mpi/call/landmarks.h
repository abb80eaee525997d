// Landmarks: the calls that mean something to the recorder itself, MPI_Init, MPI_Finalize, MPI_Abort and the like.
//
// This room only asks whether a call is one; what then happens is src/mpi/finish's, which fills this in when the
// recorder is attached, before any call is recorded. Read by any thread.
#pragma once

#include <cstdint>

#include "mpi/call/thread.h"
#include "spec/ids.h"

namespace cairn::recorder {

struct Landmarks {
  bool is[spec::function_id::kCount];  ///< by function id
  /// Before the real call of such a function.
  void (*before)(Thread &thread, Frame &frame);
  /// After it, once it is recorded.
  void (*after)(Thread &thread, Frame &frame);
  /// After an MPI_Init that is not recorded, but succeeded.
  void (*after_unrecorded_init)(Process &of);
};
extern Landmarks landmarks;

inline bool is_landmark(uint32_t function) { return landmarks.is[function]; }

}  // namespace cairn::recorder
