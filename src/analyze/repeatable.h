// What of a trace can be made again, by a replay or by a program that is made of it; told before anything is started.
//
// Needs the rows of all classes, no call is expanded. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "spec/spec.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// Why calls of this function cannot be made again: "needs another job"; nullptr: they can, some only together with
/// those of other jobs.
const char *why_not_repeated(const spec::Function &function);

/// Jobs that the run spawned, that spawned it, or that it met by a port.
enum class Others : uint8_t {
  none,   ///< cannot be there
  there,  ///< are made again, too
};
/// A usage error if calls are missing, or the run was aborted, or something needs jobs that are not there.
Result<void> may_be_repeated(const trace::Trace &trace, Others others = Others::none);

/// Calls of MPI_Cancel of which it is chance, in what is made again, whether they cancel the same: of all requests, or
/// of `persistent` ones, as far as their makers say (where a row does not say whose it is it may be).
uint64_t uncertain_cancels(const trace::Trace &trace, bool persistent);

/// Calls that are left out of what is made again, by function, with how many there are.
std::map<std::string, uint64_t> left_out(const trace::Trace &trace);

}  // namespace cairn::analyze
