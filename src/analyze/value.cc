#include "analyze/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace cairn::analyze {
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

Value Value::integer(int64_t number) {
  Value value;
  value.kind = Kind::integer;
  value.number = number;
  return value;
}

Value Value::floating(double number) {
  Value value;
  value.kind = Kind::real;
  value.real = number;
  return value;
}

Value Value::symbol(std::string text) {
  Value value;
  value.kind = Kind::symbol;
  value.text = std::move(text);
  return value;
}

Value Value::string(std::string text) {
  Value value;
  value.kind = Kind::string;
  value.text = std::move(text);
  return value;
}

Value Value::list(std::vector<Value> items) {
  Value value;
  value.kind = Kind::list;
  value.items = std::move(items);
  return value;
}

Value Value::change(Value before, Value after) {
  Value value;
  value.kind = Kind::change;
  value.items.push_back(std::move(before));
  value.items.push_back(std::move(after));
  return value;
}

void Value::append_text(std::string &out) const {
  switch (kind) {
    case Kind::absent:
      out += "-";
      return;
    case Kind::integer:
      fmt::format_to(std::back_inserter(out), "{}", number);
      return;
    case Kind::real:
      fmt::format_to(std::back_inserter(out), "{}", real);
      return;
    case Kind::symbol:
      out += text;
      return;
    case Kind::string:
      out += in_quotes(text);
      return;
    case Kind::change:
      items[0].append_text(out);
      out += " -> ";
      items[1].append_text(out);
      return;
    case Kind::list:
    case Kind::record:
      break;
  }
  const bool named = kind == Kind::record;
  // What the call implies says nothing new: only JSON spells it out.
  const auto is_implied = [](const Value &item) { return item.kind == Kind::symbol && item.text == kImplied; };
  if (named && std::all_of(items.begin(), items.end(), is_implied)) {
    out += kImplied;
    return;
  }
  out += named ? '{' : '[';
  bool first = true;
  for (size_t i = 0; i < items.size(); ++i) {
    if (named && is_implied(items[i])) continue;
    if (!first) out += ", ";
    first = false;
    if (named) {
      out += keys[i];
      out += '=';
    }
    items[i].append_text(out);
  }
  out += named ? '}' : ']';
}

nlohmann::ordered_json Value::json() const {
  switch (kind) {
    case Kind::absent:
      return nullptr;
    case Kind::integer:
      return number;
    case Kind::real:
      // JSON has no NaN and no infinity.
      return std::isfinite(real) ? nlohmann::ordered_json(real) : nlohmann::ordered_json(fmt::format("{}", real));
    case Kind::symbol:
    case Kind::string:
      return valid_utf8(text);
    case Kind::list: {
      auto array = nlohmann::ordered_json::array();
      for (const Value &item : items) array.push_back(item.json());
      return array;
    }
    case Kind::change:
      return {{"before", items[0].json()}, {"after", items[1].json()}};
    case Kind::record: {
      auto object = nlohmann::ordered_json::object();
      for (size_t i = 0; i < items.size(); ++i) object[keys[i]] = items[i].json();
      return object;
    }
  }
  return nullptr;
}

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

}  // namespace cairn::analyze
