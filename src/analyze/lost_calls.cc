#include "analyze/lost_calls.h"

#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analyze/message_calls.h"
#include "spec/ids.h"
#include "spec/spec.h"

namespace cairn::analyze {
namespace {

/// As the recorder says it, before the patterns.
constexpr std::string_view kExcluded = "a call was left out on request: --exclude ";

bool matters(const spec::Function &function) {
  const auto *const end = function.parameters + function.parameter_count;
  if (std::any_of(function.parameters, end, [](const spec::Parameter &each) {
        return each.effect != spec::Effect::none || each.kind == spec::Kind::window;
      })) {
    return true;
  }
  const bool probe = function.id == spec::function_id::Probe || function.id == spec::function_id::Iprobe;
  return is_message_call(function) && function.scope == 0 && !probe;
}

}  // namespace

bool breaks_matching(const trace::Loss &loss) {
  if (!loss.asked) return loss.missing;
  std::string_view patterns = loss.reason;
  if (!patterns.starts_with(kExcluded)) return true;
  patterns.remove_prefix(kExcluded.size());
  while (!patterns.empty()) {
    const std::string pattern(patterns.substr(0, patterns.find(',')));
    patterns.remove_prefix(std::min(patterns.size(), pattern.size() + 1));
    if (pattern.starts_with("comm:")) return true;
    for (const spec::Function &function : spec::functions()) {
      if (matters(function) && fnmatch(pattern.c_str(), function.name, 0) == 0) return true;
    }
  }
  return false;
}

}  // namespace cairn::analyze
