#include "arrays/tool/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "arrays/codec/array_codec.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::array_tool {

std::string_view name_of(arrays::NcType type) {
  constexpr std::array<std::string_view, 12> kNames = {"?",      "byte",  "char",   "short", "int",   "float",
                                                       "double", "ubyte", "ushort", "uint",  "int64", "uint64"};
  const auto number = static_cast<size_t>(type);
  return kNames[number < kNames.size() ? number : 0];
}

std::string shape_text(const arrays::Header &header, const arrays::Variable &variable) {
  std::string text;
  for (const uint32_t number : variable.dimensions) {
    const arrays::Dimension &dimension = header.dimensions[number];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", dimension.name,
                        dimension.length == 0 ? header.records : dimension.length);
  }
  return text.empty() ? "scalar" : text;
}

std::string codec_text(const arrays::Index &index, uint8_t codec) {
  if (codec >= codec::kFirstOfUsers) {
    const size_t number = codec - codec::kFirstOfUsers;
    return number < index.user_codecs.size() ? index.user_codecs[number] + " (the program's)" : "the program's own";
  }
  const codec::ArrayCodec *known = codec::find_array_codec(codec);
  return known != nullptr ? std::string(known->name) : fmt::format("number {}", codec);
}

uint64_t bytes_of(const arrays::Header &header, const arrays::Variable &variable) {
  return variable.record ? variable.slab * header.records : variable.slab;
}

std::string ratio_text(uint64_t plain, uint64_t coded) {
  return coded == 0 ? "-" : fmt::format("{:.2f}", static_cast<double>(plain) / static_cast<double>(coded));
}

std::string gain_text(uint64_t plain, uint64_t coded) {
  const bool smaller = coded <= plain;
  return fmt::format("{} in {}: {} times {}", cli::bytes_text(plain), cli::bytes_text(coded),
                     smaller ? ratio_text(plain, coded) : ratio_text(coded, plain), smaller ? "smaller" : "larger");
}

void add_coding(cli::Options &verb, std::string *codec, std::string *split, std::string *chain, const char *sizes) {
  std::vector<std::string> often = {"auto", "auto:speed"};
  for (const codec::ArrayCodec &each : codec::array_codecs()) {
    if (!each.lossy) often.emplace_back(each.name);
  }
  verb.text("--codec", *codec, "A codec, as zstd, zstd:3 or auto:speed (auto)", "WORDS", often);
  verb.text("--split", *split, fmt::format("Bytes of values in a block{}", sizes), "SIZE");
  verb.text("--chain", *chain, "Code time steps against the one before, up to N in a row; auto: as pays (auto)", "N",
            {"auto", "0"});
}

Result<uint64_t> parse_split(const std::string &text) {
  uint64_t value = 0;
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(stop, static_cast<size_t>(end - stop));
  const uint64_t scale = unit.empty() ? 1 : unit == "K" ? uint64_t{1} << 10 : unit == "M" ? uint64_t{1} << 20 : 0;
  if (error != std::errc() || scale == 0) {
    return fail(ErrorKind::usage, fmt::format("'{}' is no size", text), "write sizes as in --split 1M");
  }
  constexpr uint64_t kLeast = 1024;
  if (value < (kLeast + scale - 1) / scale || value > arrays::kMostBlock / scale) {
    return fail(ErrorKind::usage, fmt::format("blocks of {} cannot be", text), "give 1K to 256M");
  }
  return value * scale;
}

void say_changed(const std::string &path, const std::vector<std::string> &changes, cli::Output *out) {
  if (changes.empty()) return;
  constexpr size_t kShown = 10;
  std::string text;
  for (size_t i = 0; i < std::min(changes.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + valid_utf8(changes[i]);
  if (changes.size() > kShown) text += fmt::format(" and {} more", changes.size() - kShown);
  out->write(
      fmt::format("{}: the header has changed since Cairn wrote it, as by another tool: {}; values and the header "
                  "that programs see under Cairn are as they were\n",
                  path, text));
}

Result<void> may_write(const std::string &path, bool force) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const auto refuse = [&](ErrorKind kind, const char *what, const char *hint) {
    return tl::unexpected(Error{kind, what, path, Error::kNoOffset, hint});
  };
  if (status.type() == std::filesystem::file_type::directory) {
    return refuse(ErrorKind::environment, "this is a folder", "name a file");
  }
  const bool is_file = status.type() == std::filesystem::file_type::regular;
  if (!is_file && status.type() != std::filesystem::file_type::not_found) {
    return refuse(ErrorKind::environment, "this is a device, or something else that is no file", "name a file");
  }
  if (!force && status.type() != std::filesystem::file_type::not_found) {
    return refuse(ErrorKind::environment, "it exists already", "choose another name, or --force");
  }
  return {};
}

}  // namespace cairn::array_tool
