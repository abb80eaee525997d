// CallFrames: the frames of call stacks in the order in which a ProcessRecord has them, each caller before its callees,
// and ListedModules: which modules the record has. One a record; plain values.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mpi/names/sites.h"
#include "trace/model/record.h"

namespace cairn::recorder {

/// How many a record has: objects come first, functions of scripts behind them, and at the end, where call sites are
/// off, what the pseudo-sites of functions lie in. Counted once, since other threads go on.
struct ListedModules {
  uint32_t objects;
  uint32_t scripts;
  static ListedModules of(const Modules &modules) {
    return {static_cast<uint32_t>(modules.count()), modules.script_count()};
  }
  [[nodiscard]] uint32_t number(uint32_t module) const {
    if (module == kNoModule) return objects + scripts;
    return module < kScripts ? module : objects + (module - kScripts);
  }
  /// Else it was listed since.
  [[nodiscard]] bool has(uint32_t module) const {
    if (module == kNoModule) return true;
    return module < kScripts ? module < objects : module - kScripts < scripts;
  }
};

class CallFrames {
 public:
  /// Writes to `list`.
  CallFrames(std::vector<trace::Site> *list, ListedModules modules) : list_(list), modules_(modules) {}

  /// A site with its callers, which join the list.
  trace::Site of(const Site *site) {
    if (site == nullptr || !modules_.has(site->module)) return {};
    return {modules_.number(site->module), site->offset, site->caller == nullptr ? 0 : number(site->caller)};
  }

 private:
  /// Its place in the list plus one.
  uint32_t number(const Site *site) {
    std::vector<const Site *> fresh;  // stacks may be deep
    for (; site != nullptr && !known_.contains(site); site = site->caller) fresh.push_back(site);
    uint32_t caller = site == nullptr ? 0 : known_[site];
    for (auto frame = fresh.rbegin(); frame != fresh.rend(); ++frame) {
      list_->push_back({modules_.number((*frame)->module), (*frame)->offset, caller});
      caller = known_[*frame] = static_cast<uint32_t>(list_->size());
    }
    return caller;
  }

  std::vector<trace::Site> *list_;
  ListedModules modules_;
  std::unordered_map<const Site *, uint32_t> known_;
};

}  // namespace cairn::recorder
