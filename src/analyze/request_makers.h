// RequestMakers: the calls that made requests, as they stood at the end of a rank's recording: an MPI_Wait names its
// request by where it was made, and only the call that made it says whom it is for.
//
// Borrows the trace and the sources. Reads sequences from the last one back, only those of the threads that made some
// that are asked for, until all are found: cost in proportion to the calls of these sequences, up to kMostCalls of all
// that it is asked for together. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyze/decode.h"
#include "analyze/row_access.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

class RequestMakers {
 public:
  /// Some seconds' worth.
  static constexpr uint64_t kMostCalls = 50'000'000;

  RequestMakers(const trace::Trace &trace, const Sources &sources);

  /// The requests that a row gives its call; constants and those that nobody saw made are left out.
  [[nodiscard]] std::vector<HandleName> given(uint32_t class_index, const trace::Row &row) const;
  /// The last call of the rank that made each of them; those that none is found for, or would take too long, are left
  /// out. `names`: of the rank at its end.
  [[nodiscard]] std::map<HandleName, Call> of(uint32_t rank, const std::vector<HandleName> &requests,
                                              const CommunicatorNames *names);

 private:
  const trace::Trace &trace_;
  Decoder decoder_;
  std::vector<bool> classes_;  ///< has calls that make some
  uint64_t calls_left_ = kMostCalls;
};

}  // namespace cairn::analyze
