// Outcome: how a call ended, and which calls of a trace failed.
//
// A call failed if it returned an error code other than MPI_SUCCESS. One that never returned (it was left by an
// exception, by longjmp or by the end) is pending, and has not failed; of one that stands without arguments nothing is
// known. Whether a class has calls that may have failed is seen in its rows: only such calls are put together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/read/trace.h"

namespace cairn::analyze {

struct Outcome {
  enum class Kind : uint8_t { succeeded, failed, pending, unknown };
  Kind kind = Kind::unknown;
  std::string name;  ///< "MPI_SUCCESS", "MPI_ERR_TRUNCATE", "MPI error" of a class without a name; else ""
};

/// `result`: what the function's call returned. Functions that return no error code succeed.
Outcome outcome_of(uint32_t function, const trace::Field &result);
Outcome outcome_of(const trace::Row &row);

/// For each row of a class, whether some of its calls may have failed; empty if none may.
std::vector<bool> may_fail(const trace::Trace &trace, uint32_t class_index);

/// How many calls failed, by the name of the error.
using Failures = std::map<std::string, uint64_t>;
/// By function.
std::map<uint32_t, Failures> failures(const trace::Trace &trace);
uint64_t failed_calls(const Failures &failures);

}  // namespace cairn::analyze
