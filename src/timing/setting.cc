#include "timing/setting.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/decimal.h"
#include "timing/binning.h"

namespace cairn::timing {
namespace {

struct Unit {
  std::string_view name;
  uint64_t nanoseconds;
};
constexpr std::array kUnits = {Unit{"ns", 1}, Unit{"us", 1'000}, Unit{"ms", 1'000'000}, Unit{"s", 1'000'000'000}};
constexpr double kMostNanoseconds = 1e15;

tl::unexpected<Error> wrong(std::string_view what, const std::string &why, const std::string &hint) {
  return fail(ErrorKind::usage, "--timing: '" + std::string(what) + "' " + why, hint);
}

/// "0.5", of 5000 ten-thousandths.
std::string percent_text(uint64_t ten_thousandths) {
  constexpr uint64_t kWhole = 10000;
  std::string text = std::to_string(ten_thousandths / kWhole);
  if (ten_thousandths % kWhole == 0) return text;
  std::string decimals = std::to_string(kWhole + ten_thousandths % kWhole).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return text + "." + decimals;
}

std::string names() {
  std::string all;
  for (const Mode &mode : modes()) all += (all.empty() ? "" : ", ") + std::string(mode.name);
  return all;
}

Result<uint64_t> parse_relative(std::string_view text) {
  double value = 0;
  std::string_view unit = text;
  const bool is_number = take_decimal(&unit, &value) && std::isfinite(value);
  const std::string hint = "write a percentage from 0.01% to 100%, as in 10%, or exact";
  if (!is_number || unit != "%") return wrong(text, "is no relative bound", hint);
  const double millionths = std::round(value * 1e4);
  if (millionths < kLeastBound || millionths > kMostBound) return wrong(text, "is out of range", hint);
  return static_cast<uint64_t>(millionths);
}

Result<uint64_t> parse_absolute(std::string_view text) {
  double value = 0;
  std::string_view name = text;
  const bool is_number = take_decimal(&name, &value) && std::isfinite(value);
  const std::string hint = "write a time from 1ns to 1000000s, as in 10us";
  uint64_t factor = 0;
  for (const Unit &unit : kUnits) factor = name == unit.name ? unit.nanoseconds : factor;
  if (!is_number || factor == 0) return wrong(text, "is no absolute bound", hint);
  const double nanoseconds = std::round(value * static_cast<double>(factor));
  if (nanoseconds < 1 || nanoseconds > kMostNanoseconds) return wrong(text, "is out of range", hint);
  return static_cast<uint64_t>(nanoseconds);
}

Result<uint64_t> parse_bound(const Mode &mode, std::string_view text) {
  if (mode.bounds == Bounds::none) return wrong(text, "is a bound, and " + std::string(mode.name) + " has none", "");
  if (mode.bounds == Bounds::absolute) return parse_absolute(text);
  return text == "exact" ? Result<uint64_t>(0) : parse_relative(text);
}

}  // namespace

std::string bound_text(Bounds bounds, uint64_t bound) {
  if (bounds == Bounds::none || bound == 0) return "exact";
  if (bounds == Bounds::relative) return percent_text(bound) + "%";
  const Unit *unit = kUnits.data();
  for (const Unit &each : kUnits) {
    if (bound % each.nanoseconds == 0) unit = &each;
  }
  return std::to_string(bound / unit->nanoseconds) + std::string(unit->name);
}

std::string exactness(std::string_view setting) {
  const Result<Setting> parsed = parse_setting(setting);
  if (!parsed || parsed->mode->bounds == Bounds::none) return {};
  std::string text = "within " + bound_text(parsed->mode->bounds, parsed->bound);
  std::string rules;
  for (const Rule &rule : parsed->rules) {
    rules += (rules.empty() ? "" : ", ") + rule.pattern + " " + bound_text(parsed->mode->bounds, rule.bound);
  }
  return rules.empty() ? text : text + " (" + rules + ")";
}

bool Setting::is_after() const {
  return mode->after || std::any_of(rules.begin(), rules.end(), [](const Rule &rule) { return rule.of_sites(); });
}

uint64_t Setting::bound_of(const char *function, std::span<const std::string> site_names) const {
  uint64_t result = bound;
  for (const Rule &rule : rules) {
    const auto matches = [&](const std::string &name) { return fnmatch(rule.pattern.c_str(), name.c_str(), 0) == 0; };
    const bool matched = rule.of_sites() ? std::any_of(site_names.begin(), site_names.end(), matches)
                                         : fnmatch(rule.pattern.c_str(), function, 0) == 0;
    if (matched) result = rule.bound;
  }
  return result;
}

std::string Setting::text() const {
  std::string all(mode->name);
  if (mode->bounds == Bounds::none) return all;
  all += (mode->bounds == Bounds::relative ? ":rel=" : ":abs=") + bound_text(mode->bounds, bound);
  for (const Rule &rule : rules) all += "," + rule.pattern + "=" + bound_text(mode->bounds, rule.bound);
  return all;
}

Result<Setting> parse_setting(std::string_view text) {
  const size_t colon = text.find(':');
  Setting setting;
  setting.mode = mode_named(text);
  if (setting.mode == nullptr) {
    return fail(ErrorKind::usage, "--timing: there is no mode '" + std::string(text.substr(0, colon)) + "'",
                "the modes are " + names());
  }
  setting.bound = setting.mode->usual_bound;
  if (colon == std::string_view::npos) return setting;
  bool bounded = false;
  for (std::string_view rest = text.substr(colon + 1);;) {
    const size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const size_t equals = item.rfind('=');
    const std::string_view name = equals == std::string_view::npos ? "" : item.substr(0, equals);
    const Result<uint64_t> bound =
        parse_bound(*setting.mode, item.substr(equals == std::string_view::npos ? 0 : equals + 1));
    if (!bound) return tl::unexpected(bound.error());
    if (equals == std::string_view::npos || name == (setting.mode->bounds == Bounds::relative ? "rel" : "abs")) {
      const std::string hint = "functions and call sites have others, as in MPI_Wait*=1%";
      if (std::exchange(bounded, true)) return wrong(item, "is a second bound of all calls", hint);
      setting.bound = *bound;
    } else if (name == "rel" || name == "abs") {
      return wrong(
          item, "does not go with " + std::string(setting.mode->name),
          std::string("its bound is ") + (name == "abs" ? "relative, as in rel=10%" : "a time, as in abs=10us"));
    } else if (name.empty() || name.find(":rel=") != name.npos || name.find(":abs=") != name.npos ||
               name.starts_with("rel=") || name.starts_with("abs=")) {
      return wrong(item, "says no function or call site before its last =", "write MPI_Wait*=1%, with commas between");
    } else {
      setting.rules.push_back({std::string(name), *bound});
    }
    if (comma == std::string_view::npos) return setting;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace cairn::timing
