#include "timing/mode.h"

#include <algorithm>

#include "timing/lossless.h"

namespace cairn::timing {
namespace {

constexpr Mode kModes[] = {
    {"stats", "statistics per signature", true, nullptr},
    {"lossless", "each call's time", false, read_lossless},
};

}  // namespace

std::span<const Mode> modes() { return kModes; }

const Mode *mode_named(std::string_view name) {
  const auto *found = std::find_if(std::begin(kModes), std::end(kModes), [&](const Mode &m) { return m.name == name; });
  return found == std::end(kModes) ? nullptr : found;
}

bool keeps_times(std::string_view name) {
  const Mode *mode = mode_named(name);
  return mode != nullptr && mode->read != nullptr;
}

}  // namespace cairn::timing
