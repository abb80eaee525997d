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
/// `name_of` gives a function's name, for the rules of the setting. An error if the trace's own times do not allow it.
Result<Retimed> retimed(const Trace &trace, const timing::Setting &setting,
                        const std::function<const char *(uint32_t function)> &name_of);

}  // namespace cairn::trace
