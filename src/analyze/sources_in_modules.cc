// What looks into modules, which takes libdw.
#include "analyze/debug_info.h"
#include "analyze/module_id.h"
#include "analyze/sources.h"

namespace cairn::analyze {

Sources::Sources(const trace::Trace &trace, Look look)
    : Sources(trace, look == Look::in_modules_too ? &Sources::read_modules : nullptr) {}

void Sources::read_modules(const std::vector<std::set<uint64_t>> &wanted) {
  for (uint32_t number = 0; number < states_.size(); ++number) {
    if (wanted[number].empty()) continue;
    const trace::Module &module = trace_->modules()[number];
    ModuleState &state = states_[number];
    if (module.path.empty() || module.path[0] == '[') {
      state.kind = ModuleState::Kind::anonymous;
      continue;
    }
    const auto info = DebugInfo::open(module.path);
    if (!info) {
      state.kind = ModuleState::Kind::missing;
      continue;
    }
    Bytes identity = info->build_id();
    if (identity.empty()) identity = hashed_module_id(module.path);
    if (identity != module.build_id) {
      state.kind = ModuleState::Kind::stale;
      continue;
    }
    state.kind = ModuleState::Kind::found;
    state.has_lines = info->has_lines();
    for (const uint64_t offset : wanted[number]) {
      if (auto source = info->find(offset)) found_.emplace(std::pair(number, offset), std::move(*source));
    }
  }
}

}  // namespace cairn::analyze
