// Another trace of the same calls, with their times in another timing mode: of exact times any, of bounded times
// statistics or none. What a mode with a larger bound leaves out is gone.
//
// Cost: every time is decoded and coded again; memory for the streams of all ranks, compressed. All bytes come into one
// file, without blocks or bundles.
#pragma once

#include <functional>

#include "base/bytes.h"
#include "base/result.h"
#include "timing/setting.h"
#include "trace/read/trace.h"

namespace cairn::trace {

/// What it came to.
struct Retimed {
  Bytes file;
  timing::StreamSize before;
  timing::StreamSize after;
};
/// The bound of calls of a function at a site of a class, as the rules of the setting have it.
using BoundOf = std::function<uint64_t(uint32_t class_index, const Row &row)>;
/// An error if the trace's own times do not allow it.
Result<Retimed> retimed(const Trace &trace, const timing::Setting &setting, const BoundOf &bound_of);

}  // namespace cairn::trace
