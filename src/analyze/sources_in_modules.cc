// What looks into modules, which takes libdw.
#include "analyze/debug_info.h"
#include "analyze/module_id.h"
#include "analyze/sources.h"
#include "base/as_size.h"
#include "spec/spec.h"

namespace cairn::analyze {

Sources::Sources(const trace::Trace &trace, Look look)
    : Sources(trace, look == Look::in_modules_too ? &Sources::read_modules : nullptr) {}

std::map<std::pair<uint32_t, uint64_t>, std::set<std::string>> Sources::functions_of_sites() const {
  std::map<std::pair<uint32_t, uint64_t>, std::set<std::string>> functions;
  for (uint32_t index = 0; index < trace_->class_count(); ++index) {
    const std::vector<trace::Site> &sites = class_sites_[index];
    const uint32_t rows = trace_->class_view(index).rows;
    for (uint32_t row = 0; row < rows; ++row) {
      const trace::Row head = trace_->row_head(index, row);
      if (head.site >= sites.size() || head.function >= spec::functions().size()) continue;
      const trace::Site &site = sites[as_size(head.site)];
      functions[{site.module, site.offset}].insert(spec::functions()[head.function].name);
    }
  }
  return functions;
}

void Sources::read_modules(const std::vector<std::set<uint64_t>> &wanted) {
  std::map<std::pair<uint32_t, uint64_t>, std::set<std::string>> functions;
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
    if (state.has_lines && functions.empty()) functions = functions_of_sites();
    for (const uint64_t offset : wanted[number]) {
      auto source = info->find(offset);
      if (!source) continue;
      const auto called = functions.find({number, offset});
      auto jump = called == functions.end() ? std::nullopt : info->find_tail_call(offset, called->second);
      if (jump) source->tail_call = std::make_shared<const trace::Source>(*std::move(jump));
      found_.emplace(std::pair(number, offset), std::move(*source));
    }
  }
}

}  // namespace cairn::analyze
