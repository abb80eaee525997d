#include "analyze/wanted_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "analyze/outcome.h"
#include "text/nearest.h"
#include "text/paths.h"
#include "trace/model/status_field.h"

namespace cairn::analyze {
namespace {

std::span<const spec::Parameter> parameters_of(const trace::Row &row) {
  const auto all = spec::functions();
  if (row.function >= all.size()) return {};
  return std::span(all[row.function].parameters, all[row.function].parameter_count);
}

/// What a status says of a message: its first value, or its second.
enum class OfStatus : uint8_t { source, tag };

/// Adds what statuses say that differs from what the call asked for.
void add_told(const trace::Field &field, OfStatus which, std::vector<trace::AtomValue> *values) {
  trace::AtomReader statuses(trace::StatusField::of(field).atoms);
  while (!statuses.at_end()) {
    trace::AtomValue told;
    for (size_t i = 0; i < trace::StatusField::kValues; ++i) {
      const trace::AtomValue value = statuses.next();
      if (i == static_cast<size_t>(which)) told = value;
    }
    if (statuses.failed()) return;
    if (!told.special || told.constant() >= 0) values->push_back(told);
  }
}

/// The values of the parameters that `is_one` chooses, and what statuses say.
template <typename Is>
std::vector<trace::AtomValue> values_of(const trace::Row &row, const Is &is_one, OfStatus which) {
  std::vector<trace::AtomValue> values;
  const auto parameters = parameters_of(row);
  for (size_t i = 0; i < parameters.size() && i < row.fields.size(); ++i) {
    const trace::Field &field = row.fields[i];
    if (field.is_bytes || field.atoms.empty()) continue;
    if (is_one(parameters[i])) values.push_back(trace::AtomReader(field.atoms).next());
    if (parameters[i].layout == spec::Layout::status && parameters[i].direction == spec::Direction::out) {
      add_told(field, which, &values);
    }
  }
  return values;
}

bool is_communicator(const spec::Parameter &parameter) { return parameter.layout == spec::Layout::comm; }

/// Any of the values that a call has is taken, if words take any, and none is left out.
template <typename Word, typename Value, typename Matches>
bool has_any(const Chosen<Word> &chosen, const std::vector<Value> &values, const Matches &matches) {
  return chosen.has([&](const Word &word) {
    return std::any_of(values.begin(), values.end(), [&](const Value &value) { return matches(word, value); });
  });
}

bool is_in(const Span &span, const trace::AtomValue &value) { return span.has(value); }

}  // namespace

bool is_named(const std::string &pattern, const std::string &name) {
  return pattern == name || glob_match(pattern, name);
}

std::vector<std::string> site_names(const Position &position) {
  if (position.module.empty()) return {"unknown"};
  std::vector<std::string> names = {fmt::format("{}+{:#x}", position.module, position.offset), position.module};
  if (!position.file.empty()) {
    names.insert(names.end(), {position.brief(), base_name(position.file), position.file,
                               fmt::format("{}:{}", position.file, position.line)});
  }
  if (!position.function.empty()) {
    const std::string name = without_parameters(position.function);
    names.insert(names.end(), {name, name + "()", position.function, position.text(), position.short_text()});
  }
  return names;
}

std::vector<trace::AtomValue> peers_of(const trace::Row &row) {
  const auto parameters = parameters_of(row);
  const bool on_window = std::any_of(parameters.begin(), parameters.end(),
                                     [](const auto &each) { return each.kind == spec::Kind::window; });
  const auto is_peer = [&](const spec::Parameter &parameter) {
    if (parameter.kind != spec::Kind::rank || parameter.direction != spec::Direction::in) return false;
    if (parameter.passing == spec::Passing::array) return false;
    const std::string_view name = parameter.name;
    return name == "dest" || name == "source" || name == "target_rank" || (name == "rank" && on_window);
  };
  return values_of(row, is_peer, OfStatus::source);
}

std::vector<trace::AtomValue> tags_of(const trace::Row &row) {
  const auto is_tag = [](const spec::Parameter &parameter) {
    return parameter.kind == spec::Kind::tag && parameter.direction == spec::Direction::in;
  };
  return values_of(row, is_tag, OfStatus::tag);
}

std::vector<std::string> communicators_of(const Decoder &decoder, uint32_t class_index, const trace::Row &row,
                                          const CommunicatorNames *names_of_rank) {
  std::vector<std::string> names;
  const auto add = [&](const Value &value) {
    if (value.kind == Value::Kind::symbol) names.push_back(value.text);
  };
  const auto parameters = parameters_of(row);
  for (size_t i = 0; i < parameters.size() && i < row.fields.size(); ++i) {
    if (!is_communicator(parameters[i])) continue;
    const Value value = decoder.value(class_index, parameters[i], row.fields[i], names_of_rank);
    add(value);
    // A list of them, or one that was just created with what tells it from others.
    if (value.kind == Value::Kind::list) std::for_each(value.items.begin(), value.items.end(), add);
    if (value.kind == Value::Kind::record && !value.items.empty()) add(value.items[0]);
  }
  return names;
}

WantedCalls::WantedCalls(const trace::Trace &trace, const Sources &sources, const Filter &filter)
    : filter_(filter),
      decoder_(trace, sources),
      by_head_(!filter.functions.empty() || filter.threads.chooses() || filter.sites.chooses()),
      by_values_(filter.chooses_by_values()) {
  if (!by_head_) return;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    threads_.push_back(!filter.threads.chooses() || filter.has_thread(trace.class_thread(index)));
    if (!filter.sites.chooses()) continue;
    const size_t count = trace.sites(index).size();
    std::vector<bool> &sites = sites_.emplace_back(count);
    for (uint32_t site = 0; site < count; ++site) {
      std::vector<std::string> names = site_names(sources.position(index, site));
      for (const Position &caller : sources.callers(index, site)) {
        const std::vector<std::string> more = site_names(caller);
        names.insert(names.end(), more.begin(), more.end());
      }
      sites[site] = has_any(filter.sites, names, is_named);
    }
  }
}

bool WantedCalls::wants_values(uint32_t class_index, const trace::Row &row, const CommunicatorNames *names) const {
  if (filter_.errors || filter_.results.chooses()) {
    const Outcome outcome = outcome_of(row);
    if (filter_.errors && outcome.kind != Outcome::Kind::failed && outcome.kind != Outcome::Kind::pending) return false;
    if (!filter_.results.has([&](const std::string &word) { return is_named(word, outcome.name); })) return false;
  }
  if (filter_.peers.chooses() && !has_any(filter_.peers, peers_of(row), is_in)) return false;
  if (filter_.tags.chooses() && !has_any(filter_.tags, tags_of(row), is_in)) return false;
  return !filter_.comms.chooses() ||
         has_any(filter_.comms, communicators_of(decoder_, class_index, row, names), is_named);
}

}  // namespace cairn::analyze
