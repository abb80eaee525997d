#include "proxy/columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/law.h"

namespace cairn::proxy {

using trace::Atom;

std::string Columns::value(const trace::FoldColumn &column) {
  const auto [entry, added] = known_.try_emplace(&column);
  if (added) entry->second = value(column.expand());
  return entry->second;
}

std::string Columns::value(const std::vector<Atom> &values, bool marks) {
  if (auto law = law_of(ranks_, values, program_.trace.rank_count(), marks)) return *law;
  const auto [entry, added] = known_tables_.try_emplace(values);
  if (added) entry->second = table(values);
  const bool numbers = std::none_of(values.begin(), values.end(), trace::is_special);
  return numbers || marks ? entry->second : "number(" + entry->second + ")";
}

std::string Columns::table(const std::vector<Atom> &values) {
  std::map<Atom, grammar::Symbol> numbers;
  std::vector<grammar::Symbol> order;
  std::vector<std::string> differences;
  uint64_t last = 0;
  for (const Atom value : values) {
    Atom step = value;
    program_.looks_up(value);
    if (!trace::is_special(value)) {
      step = static_cast<Atom>(static_cast<uint64_t>(value) - last);
      last = static_cast<uint64_t>(value);
    }
    const auto [entry, added] = numbers.try_emplace(step, static_cast<grammar::Symbol>(numbers.size()));
    if (added) differences.push_back(atom_value(step));
    order.push_back(entry->second);
  }
  const std::string name = names_.unique("column");
  tables_.raw(fmt::format("static const struct term {}_order[] = {{\n{}}};\n", name,
                          terms_text(grammar::Grammar::from_symbols(order))));
  tables_.raw(fmt::format("static const long long {}_steps[] = {{\n{}}};\n", name, list_text(differences)));
  tables_.raw(fmt::format("static struct column {0} = {{{0}_order, {0}_steps, 0, 0}};\n\n", name));
  return fmt::format("along(&{}, {})", name, member_());
}

}  // namespace cairn::proxy
