#include "analyze/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/as_size.h"
#include "spec/spec.h"
#include "text/paths.h"

namespace cairn::analyze {
namespace {

/// A script calls its functions and files what it likes; a terminal is to get none of that as a command.
std::string printable(std::string text) {
  for (char &letter : text) {
    if (static_cast<unsigned char>(letter) < ' ' || letter == 0x7f) letter = '?';
  }
  return text;
}

/// With "()" behind it. A demangled C++ name may bring its parameters; Python has <module> and f.<locals>.<lambda>.
std::string called(const std::string &function) {
  const size_t bracket = function.back() == '>' ? function.rfind('<') : std::string::npos;
  const bool is_part_of_script = bracket == 0 || (bracket != std::string::npos && function[bracket - 1] == '.');
  return function.back() == ')' || is_part_of_script ? function : function + "()";
}

}  // namespace

std::string without_parameters(const std::string &function) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  constexpr std::string_view kOperator = "operator";
  int depth = 0;  // of what may have brackets of its own: arguments of templates, {lambda(int)#1}
  for (size_t i = 0; i < function.size();) {
    const std::string_view rest = std::string_view(function).substr(i);
    if (rest.starts_with(kUnnamed)) {
      i += kUnnamed.size();
    } else if (rest.starts_with(kOperator)) {
      i += kOperator.size();
      if (rest.substr(kOperator.size()).starts_with("()")) i += 2;
      while (i < function.size() && std::string_view("<>=-").find(function[i]) != std::string_view::npos) ++i;
    } else {
      if (function[i] == '(' && depth == 0 && i != 0) return function.substr(0, i);
      if (function[i] == '<' || function[i] == '{') ++depth;
      if (function[i] == '>' || function[i] == '}') --depth;
      ++i;
    }
  }
  return function;
}

bool has_call_stacks(const trace::Trace &trace) {
  const std::vector<trace::Site> &sites = trace.all_sites();
  return std::any_of(sites.begin(), sites.end(), [](const trace::Site &site) { return site.caller != 0; });
}

std::string Position::text() const {
  if (module.empty()) return {};
  return function.empty() ? brief() : brief() + " in " + called(function);
}

std::string Position::short_text() const {
  if (module.empty()) return {};
  return function.empty() ? brief() : brief() + " in " + function_text();
}

std::string Position::function_text() const {
  return function.empty() ? function : called(without_parameters(function));
}

std::string Position::brief() const {
  if (!file.empty()) return fmt::format("{}:{}", base_name(file), line);
  if (module.empty()) return function;
  return fmt::format("{}+{:#x}", module, offset);
}

Sources Sources::in_trace(const trace::Trace &trace) { return {trace, nullptr}; }

Sources::Sources(const trace::Trace &trace, ReadModules read) : trace_(&trace), states_(trace.modules().size()) {
  std::vector<std::set<uint64_t>> wanted(states_.size());
  for (uint32_t number = 0; number < states_.size(); ++number) {
    auto script = trace::script_function(trace.modules()[number]);
    if (script) scripts_.emplace(number, *std::move(script));
  }
  for (uint32_t index = 0; index < trace.class_count(); ++index) class_sites_.push_back(trace.sites(index));
  for (const trace::Site &site : trace.all_sites()) {
    if (site.module >= states_.size() || site.offset == 0) continue;
    if (scripts_.contains(site.module)) continue;
    if (auto known = trace.source(site)) {
      found_.emplace(std::pair(site.module, site.offset), std::move(*known));
    } else {
      wanted[site.module].insert(site.offset);
    }
  }
  by_function_ = std::any_of(wanted.begin(), wanted.end(), [](const auto &offsets) { return !offsets.empty(); });
  for (size_t number = 0; number < wanted.size(); ++number) {
    const trace::Module &module = trace.modules()[number];
    if (!wanted[number].empty() && !(module.path.empty() && module.build_id.empty())) by_function_ = false;
  }
  if (!found_.empty() || !scripts_.empty()) by_function_ = false;
  if (read != nullptr && !by_function_) (this->*read)(wanted);
  count_sites();
}

void Sources::count_sites() {
  std::map<std::string, std::set<std::tuple<uint32_t, uint64_t, uint32_t>>> by_text;
  for (const trace::Site &site : trace_->all_sites()) {
    std::string text = innermost(site).brief();
    if (!text.empty()) by_text[std::move(text)].emplace(site.module, site.offset, site.caller);
  }
  for (const auto &[text, sites] : by_text) {
    if (sites.size() == 1) continue;
    uint32_t count = 0;
    for (const auto &site : sites) ordinals_.emplace(site, ++count);
  }
}

Position Sources::position(const trace::Site &site) const {
  Position position;
  if (site.module >= trace_->modules().size() || site.offset == 0) return position;
  if (by_function_) {
    const auto functions = spec::functions();
    if (site.offset < functions.size()) position.function = functions[as_size(site.offset)].name;
    return position;
  }
  if (const auto script = scripts_.find(site.module); script != scripts_.end()) {
    const std::string function = printable(script->second.function);
    const std::string file = printable(script->second.file);
    return {base_name(file), site.offset, function, file, static_cast<uint32_t>(site.offset)};
  }
  const auto found = found_.find({site.module, site.offset});
  return position_of(site, found == found_.end() ? trace::Source() : found->second);
}

Position Sources::position_of(const trace::Site &site, const trace::Source &source) const {
  const std::string &path = trace_->modules()[site.module].path;
  return {path.empty() ? "anonymous" : base_name(path), site.offset, source.function, source.file, source.line};
}

const trace::Source *Sources::tail_call(const trace::Site &site) const {
  const auto found = found_.find({site.module, site.offset});
  return found == found_.end() ? nullptr : found->second.tail_call.get();
}

Position Sources::innermost(const trace::Site &site) const {
  const trace::Source *jump = tail_call(site);
  return jump == nullptr ? position(site) : position_of(site, *jump);
}

Position Sources::position(uint32_t class_index, uint64_t number) const {
  if (class_index >= class_sites_.size() || number >= class_sites_[class_index].size()) return {};
  return innermost(class_sites_[class_index][as_size(number)]);
}

std::string Sources::name(uint32_t class_index, uint64_t number) const {
  std::string text = position(class_index, number).brief();
  if (text.empty() || ordinals_.empty()) return text;
  const trace::Site &site = class_sites_[class_index][as_size(number)];
  const auto found = ordinals_.find({site.module, site.offset, site.caller});
  if (found != ordinals_.end() && found->second != 1) text += fmt::format("/{}", found->second);
  return text;
}

std::vector<Position> Sources::callers(uint32_t class_index, uint64_t number) const {
  if (class_index >= class_sites_.size() || number >= class_sites_[class_index].size()) return {};
  const trace::Site &site = class_sites_[class_index][as_size(number)];
  std::vector<Position> result = frames(site.caller);
  if (tail_call(site) != nullptr) result.insert(result.begin(), position(site));
  return result;
}

std::vector<Position> Sources::frames(uint32_t caller) const {
  std::vector<Position> result;
  while (caller != 0) {
    const trace::Site &site = trace_->all_sites()[caller - 1];
    result.push_back(position(site));
    caller = site.caller;
  }
  return result;
}

std::vector<std::pair<trace::Site, trace::Source>> Sources::resolved() const {
  std::vector<std::pair<trace::Site, trace::Source>> all;
  all.reserve(found_.size());
  for (const auto &[site, source] : found_) all.push_back({{site.first, site.second, 0}, source});
  return all;
}

std::vector<std::string> Sources::warnings() const {
  std::vector<std::string> lines;
  for (size_t number = 0; number < states_.size(); ++number) {
    if (states_[number].kind != ModuleState::Kind::stale) continue;
    lines.push_back(fmt::format("{} has changed since it was recorded: its call sites are shown as offsets",
                                trace_->modules()[number].path));
  }
  return lines;
}

}  // namespace cairn::analyze
