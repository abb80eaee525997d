// How an outcome in a status is coded: as its difference from what the call implies. For a receive that named its
// source and tag and got as many bytes as it posted there is nothing to store; sends and collectives carry nothing but
// errors.
#pragma once

#include "mpi/call/mpi_calls.h"
#include "mpi/names/handles.h"

namespace cairn::recorder {

/// Which fields differ from what is implied.
struct StatusCode {
  bool source;
  bool tag;
  bool error;
  bool bytes;
  bool cancelled;
};

/// `with_errors`: the call returned MPI_ERR_IN_STATUS, so the error fields mean something.
inline StatusCode code_status(const mpi::Status &status, const Posted &posted, bool with_errors) {
  StatusCode code{};
  code.error = with_errors && status.error != mpi::success;
  code.cancelled = status.cancelled;
  switch (posted.kind) {
    case PostedKind::nothing:
      break;
    case PostedKind::bytes:
      code.bytes = status.bytes != posted.bytes;
      break;
    case PostedKind::empty:
      code.source = status.source != mpi::any_source;
      code.tag = status.tag != mpi::any_tag;
      code.bytes = status.bytes != 0;
      break;
    case PostedKind::envelope:
      if (posted.source == mpi::proc_null) {
        code.source = status.source != mpi::proc_null;
        code.tag = status.tag != mpi::any_tag;
        code.bytes = status.bytes != 0;
      } else {
        code.source = posted.source < 0 || status.source != posted.source;
        code.tag = posted.tag < 0 || status.tag != posted.tag;
        code.bytes = status.bytes != posted.bytes;
      }
      break;
  }
  return code;
}

inline bool status_implied(const mpi::Status &status, const Posted &posted, bool with_errors) {
  const StatusCode code = code_status(status, posted, with_errors);
  return !(code.source || code.tag || code.error || code.bytes || code.cancelled);
}

}  // namespace cairn::recorder
