#include "analyze/places.h"

#include "base/hash.h"

namespace cairn::analyze {

size_t Places::Hash::operator()(const Key &key) const {
  const uint32_t words[] = {key.class_index, key.function, key.site};
  return static_cast<size_t>(hash64({reinterpret_cast<const uint8_t *>(words), sizeof words}));
}

uint32_t Places::of(const CallTime &call) {
  const auto [known, fresh] = known_.try_emplace({call.class_index, call.function, call.site}, 0);
  if (!fresh) return known->second;
  const Position position = sources_.position(call.class_index, call.site);
  const auto [found, added] =
      by_text_.try_emplace({call.function, position.text()}, static_cast<uint32_t>(all_.size()));
  if (added) all_.push_back({call.function, position});
  known->second = found->second;
  return known->second;
}

}  // namespace cairn::analyze
