// CallFrames: the frames of call stacks in the order in which a ProcessRecord has them, each caller before its callees.
// One a record; plain value.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mpi/names/sites.h"
#include "trace/model/record.h"

namespace cairn::recorder {

class CallFrames {
 public:
  /// Writes to `list`. `modules`: how many the record has of the process; pseudo-sites of functions lie in the one
  /// behind them.
  CallFrames(std::vector<trace::Site> *list, int modules) : list_(list), modules_(static_cast<uint32_t>(modules)) {}

  /// A site with its callers, which join the list.
  trace::Site of(const Site *site) {
    if (site == nullptr) return {};
    const bool real = site->module != kNoModule;
    return {real ? site->module : modules_, site->offset, site->caller == nullptr ? 0 : number(site->caller)};
  }

 private:
  /// Its place in the list plus one.
  uint32_t number(const Site *site) {
    std::vector<const Site *> fresh;  // stacks may be deep
    for (; site != nullptr && !known_.contains(site); site = site->caller) fresh.push_back(site);
    uint32_t caller = site == nullptr ? 0 : known_[site];
    for (auto frame = fresh.rbegin(); frame != fresh.rend(); ++frame) {
      list_->push_back({(*frame)->module, (*frame)->offset, caller});
      caller = known_[*frame] = static_cast<uint32_t>(list_->size());
    }
    return caller;
  }

  std::vector<trace::Site> *list_;
  uint32_t modules_;
  std::unordered_map<const Site *, uint32_t> known_;
};

}  // namespace cairn::recorder
