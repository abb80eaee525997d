#include "analyze/places.h"

namespace cairn::analyze {

uint32_t Places::of(const CallTime &call) {
  if (call.class_index >= known_.size()) known_.resize(call.class_index + size_t{1});
  std::vector<AtSite> &sites = known_[call.class_index];
  if (call.site >= sites.size()) sites.resize(call.site + size_t{1});
  AtSite &known = sites[call.site];
  if (known.function != call.function) known = {call.function, find(call)};
  return known.place;
}

uint32_t Places::find(const CallTime &call) {
  const Position position = sources_.position(call.class_index, call.site);
  const auto [found, added] =
      by_text_.try_emplace({call.function, position.text()}, static_cast<uint32_t>(all_.size()));
  if (added) all_.push_back({call.function, position});
  return found->second;
}

}  // namespace cairn::analyze
