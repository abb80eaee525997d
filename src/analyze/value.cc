#include "analyze/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/as_size.h"
#include "spec/spec.h"
#include "text/utf8.h"

namespace cairn::analyze {

Value Value::integer(int64_t number) { return {.kind = Kind::integer, .number = number}; }
Value Value::boolean(bool is_so) { return {.kind = Kind::boolean, .number = is_so ? 1 : 0}; }
Value Value::floating(double number) { return {.kind = Kind::real, .real = number}; }
Value Value::symbol(std::string text) { return {.kind = Kind::symbol, .text = std::move(text)}; }
Value Value::string(std::string text) { return {.kind = Kind::string, .text = std::move(text)}; }
Value Value::list(std::vector<Value> items) { return {.kind = Kind::list, .items = std::move(items)}; }
Value Value::change(Value before, Value after) {
  return {.kind = Kind::change, .items = {std::move(before), std::move(after)}};
}

std::string constant_name(int id) {
  const auto all = spec::constants();
  if (as_size(id) < all.size()) return all[as_size(id)].name;
  return fmt::format("constant#{}", id);
}

void Value::append_text(std::string &out) const {
  switch (kind) {
    case Kind::absent:
      out += "-";
      return;
    case Kind::integer:
      out += fmt::format("{}", number);
      return;
    case Kind::boolean:
      out += number != 0 ? "true" : "false";
      return;
    case Kind::real:
      out += fmt::format("{}", real);
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
    case Kind::boolean:
      return number != 0;
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

}  // namespace cairn::analyze
