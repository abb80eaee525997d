#include "text/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace cairn {
namespace {

/// Length of the UTF-8 sequence at the front of `text`, or 0 if there is no valid one.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  size_t length = 0;
  uint32_t code = 0;
  if (first >= 0xc2 && first < 0xe0) {
    length = 2;
    code = first & 0x1fU;
  } else if (first >= 0xe0 && first < 0xf0) {
    length = 3;
    code = first & 0x0fU;
  } else if (first >= 0xf0 && first < 0xf5) {
    length = 4;
    code = first & 0x07U;
  }
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool shortest = (length != 3 || code >= 0x800) && (length != 4 || code >= 0x10000);
  const bool scalar = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return shortest && scalar ? length : 0;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text[0];
    const size_t length = utf8_length(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (length == 0 || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      // Octal has a fixed width: a digit that follows is not taken for part of it.
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string_view valid_utf8(std::string_view text, std::string *room) {
  const auto is_ascii = [](char each) { return static_cast<unsigned char>(each) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
  return *room = valid_utf8(text);
}

}  // namespace cairn
