#include "timing/mode.h"

#include <algorithm>

#include "timing/bins_coder.h"
#include "timing/cfg_coder.h"
#include "timing/context_coder.h"
#include "timing/hist_coder.h"
#include "timing/sz_coder.h"
#include "timing/zfp_coder.h"
#include "timing/zfp_library.h"

namespace cairn::timing {
namespace {

/// Nothing is recorded on WebAssembly: what encodes is left out.
constexpr Encode writes(Encode encode) {
#ifdef __wasm__
  encode = nullptr;
#endif
  return encode;
}

constexpr Mode kModes[] = {
    {"stats", "statistics per signature", 0, true, Bounds::none, 0, nullptr, nullptr},
    {"stats-gaps", "these, and of the gaps before each call site's", 0, true, Bounds::none, 0, nullptr, nullptr, false,
     nullptr, true},
    {"context", "each call's time, within a bound", 11, false, Bounds::relative, 100'000, writes(encode_context),
     decode_context},
    {"lossless", "each call's time, exactly", 10, false, Bounds::none, 0, writes(encode_context), decode_context},
    {"hist", "the most frequent bins as short codes, to compare", 3, false, Bounds::relative, 100'000,
     writes(encode_hist), decode_hist},
    {"cfg", "bins as a grammar, to compare", 4, false, Bounds::relative, 100'000, writes(encode_cfg), decode_cfg},
    {"sz", "differences of bins, to compare", 5, false, Bounds::relative, 100'000, writes(encode_sz), decode_sz},
    {"sz-clustered", "the same by call site, to compare", 6, false, Bounds::relative, 100'000,
     writes(encode_sz_clustered), decode_sz_clustered},
    {"zfp", "by libzfp, to compare", 7, false, Bounds::absolute, 10'000, writes(encode_zfp), decode_zfp, true,
     zfp_missing},
    {"zfp-clustered", "the same by call site, to compare", 8, false, Bounds::absolute, 10'000,
     writes(encode_zfp_clustered), decode_zfp_clustered, true, zfp_missing},
    {"bins", "bins under zstd, to compare", 9, false, Bounds::relative, 100'000, writes(encode_bins), decode_bins},
    {"off", "nothing", 0, false, Bounds::none, 0, nullptr, nullptr},
};

}  // namespace

std::span<const Mode> modes() { return kModes; }

const Mode *mode_named(std::string_view name) {
  name = name.substr(0, name.find(':'));
  const auto *found = std::find_if(std::begin(kModes), std::end(kModes), [&](const Mode &m) { return m.name == name; });
  return found == std::end(kModes) ? nullptr : found;
}

const Mode *mode_numbered(uint8_t number) {
  const auto *found = std::find_if(std::begin(kModes), std::end(kModes),
                                   [&](const Mode &m) { return m.decode != nullptr && m.number == number; });
  return found == std::end(kModes) ? nullptr : found;
}

bool keeps_nothing(std::string_view setting) {
  const Mode *mode = mode_named(setting);
  return mode != nullptr && !mode->statistics && mode->decode == nullptr;
}

bool keeps_times(std::string_view setting) {
  const Mode *mode = mode_named(setting);
  return mode != nullptr && mode->decode != nullptr;
}

}  // namespace cairn::timing
