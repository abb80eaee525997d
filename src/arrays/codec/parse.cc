#include <charconv>
#include <cmath>
#include <string>

#include "arrays/codec/array_codec.h"

namespace cairn::codec {
namespace {

template <typename T>
bool read(std::string_view word, T *value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *value);
  return error == std::errc() && end == word.data() + word.size();
}

std::string names() {
  std::string text = "the codecs are auto";
  for (const ArrayCodec &codec : array_codecs()) text += ", " + std::string(codec.name);
  return text;
}

Result<ArrayCodecChoice> parse_goal(std::string_view words) {
  ArrayCodecChoice choice;
  constexpr std::string_view kBandwidth = "bandwidth=";
  if (words.empty() || words == "ratio") return choice;
  if (words == "speed") {
    choice.goal.kind = Goal::Kind::speed;
    return choice;
  }
  choice.goal.kind = Goal::Kind::bandwidth;
  if (words.starts_with(kBandwidth) && read(words.substr(kBandwidth.size()), &choice.goal.bytes_per_second) &&
      choice.goal.bytes_per_second > 0 && std::isfinite(choice.goal.bytes_per_second)) {
    return choice;
  }
  return fail(ErrorKind::usage, "unknown goal '" + std::string(words) + "' of auto",
              "goals are ratio, speed and bandwidth=BYTES_PER_SECOND");
}

}  // namespace

Result<ArrayCodecChoice> parse_array_codec(std::string_view words) {
  const size_t colon = words.find(':');
  const std::string_view name = words.substr(0, colon);
  const std::string_view option = colon == std::string_view::npos ? std::string_view{} : words.substr(colon + 1);
  if (colon != std::string_view::npos && option.empty())
    return fail(ErrorKind::usage, "nothing behind the colon of codec '" + std::string(words) + "'");
  if (name == "auto") return parse_goal(option);

  ArrayCodecChoice choice;
  choice.codec = find_array_codec(name);
  if (choice.codec == nullptr) return fail(ErrorKind::usage, "unknown codec '" + std::string(name) + "'", names());
  if (choice.codec->lossy) {
    if (!read(option, &choice.options.tolerance) || !(choice.options.tolerance > 0) ||
        !std::isfinite(choice.options.tolerance)) {
      return fail(ErrorKind::usage, "codec '" + std::string(name) + "' needs the largest error that it may make",
                  "for example " + std::string(name) + ":0.001");
    }
  } else if (!option.empty() &&
             (!read(option, &choice.options.level) || choice.options.level < -100 || choice.options.level > 22)) {
    return fail(ErrorKind::usage, "'" + std::string(option) + "' is no level of codec '" + std::string(name) + "'",
                "levels are integers from -100 to 22");
  }
  return choice;
}

}  // namespace cairn::codec
