// What `record` and `repack` share: a trace in another timing mode, with bounds by function and by call site.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "timing/setting.h"
#include "trace/read/retime.h"
#include "trace/read/trace.h"

namespace cairn::cli {

/// What the words of --timing say together: a mode and rules of functions that there are.
Result<timing::Setting> timing_setting(const std::vector<std::string> &words);

/// `trace` in that mode. `*unmet`: the rules of call sites that no call site is named by.
Result<trace::Retimed> in_mode(const trace::Trace &trace, const timing::Setting &setting,
                               std::vector<std::string> *unmet);

}  // namespace cairn::cli
