#include "arrays/file/codec_words.h"

#include <algorithm>
#include <charconv>

#include "arrays/file/block.h"

namespace cairn::arrays {

Result<CodecWords> parse_codec_words(std::string_view words) {
  CodecWords read;
  size_t at = 0;
  while (at <= words.size()) {
    const size_t comma = std::min(words.find(',', at), words.size());
    const std::string_view word = words.substr(at, comma - at);
    at = comma + 1;
    // A goal has an equals sign, too: "auto:bandwidth=2e7".
    const size_t equals = word.find('=');
    const bool named = equals != std::string_view::npos && word.find(':') > equals;
    if (!named && word == "off") {
      read.off = true;
      continue;
    }
    const Result<codec::ArrayCodecChoice> choice = codec::parse_array_codec(named ? word.substr(equals + 1) : word);
    if (!choice) return tl::unexpected(choice.error());
    if (named) {
      read.by_name[std::string(word.substr(0, equals))] = *choice;
    } else {
      read.others = *choice;
    }
  }
  return read;
}

Result<std::optional<uint32_t>> parse_chain(std::string_view words) {
  if (words.empty() || words == "auto") return std::optional<uint32_t>();
  uint32_t value = 0;
  const char *end = words.data() + words.size();
  const auto [stop, error] = std::from_chars(words.data(), end, value);
  if (error != std::errc() || stop != end || value > kMostChain) {
    return fail(ErrorKind::usage, "chains of " + std::string(words) + " cannot be",
                "give auto, or 0 to " + std::to_string(kMostChain));
  }
  return std::optional(value);
}

}  // namespace cairn::arrays
