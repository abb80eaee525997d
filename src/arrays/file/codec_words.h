// The words that say how the variables of a file are coded: "auto", "zstd:3", "T=zfp-lossy:0.01,mask=zstd,auto", "off";
// and how long chains of time steps are. The same in hints, environment variables and on the command line.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "arrays/codec/array_codec.h"
#include "base/result.h"

namespace cairn::arrays {

struct CodecWords {
  bool off = false;                ///< new files stay as they are
  codec::ArrayCodecChoice others;  ///< of variables that are not named
  std::map<std::string, codec::ArrayCodecChoice> by_name;

  [[nodiscard]] const codec::ArrayCodecChoice &of(const std::string &variable) const {
    const auto named = by_name.find(variable);
    return named != by_name.end() ? named->second : others;
  }
  /// Whether some variable's codec is the shortest that there is.
  [[nodiscard]] bool any_shortest() const {
    return others.shortest() || std::ranges::any_of(by_name, [](const auto &each) { return each.second.shortest(); });
  }
};

/// Error: what of the words means nothing.
Result<CodecWords> parse_codec_words(std::string_view words);

/// "8": how many blocks may be coded against each other; "auto" or nothing: as many as pay. Error: neither, or more
/// than there can be.
Result<std::optional<uint32_t>> parse_chain(std::string_view words);

}  // namespace cairn::arrays
