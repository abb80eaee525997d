#include "timeline/doing.h"

#include <string_view>
#include <vector>

#include "analyze/message_calls.h"
#include "analyze/summary.h"
#include "spec/spec.h"

namespace cairn::timeline {
namespace {

Doing sort_of(const spec::Function &function) {
  const std::string_view name = function.name;
  if (analyze::is_apart(function.id)) return Doing::init;
  if (name.starts_with("MPI_File_")) return Doing::files;
  bool window = name.starts_with("MPI_Win_");
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.kind == spec::Kind::request && parameter.effect == spec::Effect::complete) return Doing::completion;
    window = window || parameter.kind == spec::Kind::window;
  }
  if (window) return Doing::one_sided;
  if (function.scope != 0) return Doing::collective;
  return analyze::is_message_call(function) ? Doing::messages : Doing::other;
}

}  // namespace

const char *name_of(Doing doing) {
  constexpr const char *kNames[kDoings] = {"outside MPI", "messages", "completion", "collective",
                                           "one-sided",   "files",    "init",       "other"};
  return kNames[static_cast<size_t>(doing)];
}

Doing doing_of(uint32_t function) {
  static const std::vector<Doing> all = [] {
    std::vector<Doing> made;
    for (const spec::Function &each : spec::functions()) made.push_back(sort_of(each));
    return made;
  }();
  return function < all.size() ? all[function] : Doing::other;
}

}  // namespace cairn::timeline
