#include "cli/retiming.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/sources.h"
#include "analyze/wanted_calls.h"
#include "spec/spec.h"

namespace cairn::cli {

Result<timing::Setting> timing_setting(const std::vector<std::string> &words) {
  // A word that says no mode but a rule belongs to the mode that another one says.
  std::string mode;
  std::string rules;
  for (const std::string &word : words) {
    const bool is_rule = timing::mode_named(word) == nullptr && word.find('=') != std::string::npos;
    if (!is_rule && !mode.empty()) {
      return fail(ErrorKind::usage, fmt::format("--timing: {} and {} are two modes", mode, word), "give one");
    }
    if (is_rule) rules += (rules.empty() ? "" : ",") + word;
    if (!is_rule) mode = word;
  }
  if (mode.empty()) mode = rules.empty() ? std::string(timing::modes()[0].name) : "context";
  if (!rules.empty()) mode += (mode.find(':') == std::string::npos ? ":" : ",") + rules;
  Result<timing::Setting> setting = timing::parse_setting(mode);
  if (!setting) return setting;
  for (const timing::Rule &rule : setting->rules) {
    const auto functions = spec::functions();
    const bool known =
        rule.of_sites() || std::any_of(functions.begin(), functions.end(), [&](const spec::Function &function) {
          return fnmatch(rule.pattern.c_str(), function.name, 0) == 0;
        });
    if (!known) {
      return fail(ErrorKind::usage, fmt::format("--timing: no MPI function is called {}", rule.pattern),
                  "write patterns of their names, as in 'MPI_Wait*=1%'");
    }
  }
  constexpr size_t kMost = 511;
  if (setting->text().size() > kMost)
    return fail(ErrorKind::usage, "the rules of --timing are too long", "use fewer, with *");
  return setting;
}

Result<trace::Retimed> in_mode(const trace::Trace &trace, const timing::Setting &setting,
                               std::vector<std::string> *unmet) {
  const analyze::Sources sources(trace);
  std::map<std::pair<uint32_t, uint32_t>, std::vector<std::string>> names;
  std::set<std::string> met;
  auto made = trace::retimed(trace, setting, [&](uint32_t class_index, const trace::Row &row) {
    const auto [own, added] = names.try_emplace({class_index, row.site});
    if (added) {
      own->second = analyze::site_names(sources.position(class_index, row.site));
      for (const timing::Rule &rule : setting.rules) {
        const auto is_met = [&](const std::string &name) {
          return fnmatch(rule.pattern.c_str(), name.c_str(), 0) == 0;
        };
        if (std::any_of(own->second.begin(), own->second.end(), is_met)) met.insert(rule.pattern);
      }
    }
    const bool known = row.function < spec::functions().size();
    return setting.bound_of(known ? spec::functions()[row.function].name : "", own->second);
  });
  for (const timing::Rule &rule : setting.rules) {
    if (rule.of_sites() && !met.contains(rule.pattern)) unmet->push_back(rule.pattern);
  }
  return made;
}

}  // namespace cairn::cli
