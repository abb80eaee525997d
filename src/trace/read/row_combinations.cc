#include "trace/read/row_combinations.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "grammar/product.h"
#include "trace/model/row_fields.h"
#include "trace/read/fields_along.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

/// What a value of a stream is on all members where only constants are asked for; nullopt: not the same on all.
std::optional<Atom> constant_along(const ClassRow &value) {
  RowFields fields(value);
  const FieldHead &head = fields.next();
  if (head.kind != FieldHead::atoms || head.count == 0) return std::nullopt;
  const ColumnPointer column = fields.column(0);
  if (column == nullptr) return constant_of(fields.atom(0));
  const std::vector<Atom> along = column->expand();
  if (std::any_of(along.begin(), along.end(), is_special)) return std::nullopt;
  return 0;
}

/// For each value the first one that says the same, where only constants are asked for.
std::vector<Symbol> constants_of(const StreamVariant &variant) {
  std::vector<Symbol> same;
  std::map<Atom, Symbol> first;
  for (Symbol i = 0; i < variant.values.size(); ++i) {
    const std::optional<Atom> constant = constant_along(*variant.values[i]);
    same.push_back(constant ? first.try_emplace(*constant, i).first->second : i);
  }
  return same;
}

GrammarPointer order_of(const AskedStream &stream) {
  if (stream.asked != Asked::constant) return stream.variant->order;
  const std::vector<Symbol> same = constants_of(*stream.variant);
  return std::make_shared<const Grammar>(
      stream.variant->order->mapped([&](Symbol value) { return value < same.size() ? same[value] : value; }));
}

/// The only row that there is.
std::optional<Symbol> only_row(const std::vector<uint64_t> &times) {
  const auto found = [](uint64_t count) { return count != 0; };
  if (std::count_if(times.begin(), times.end(), found) != 1) return std::nullopt;
  return static_cast<Symbol>(std::find_if(times.begin(), times.end(), found) - times.begin());
}

}  // namespace

std::vector<Combination> combinations(const Grammar &rows, const std::vector<AskedStream> &streams) {
  constexpr size_t kSteps = 4096;  // and so many a term:
  constexpr size_t kStepsATerm = 64;
  std::vector<GrammarPointer> orders;
  orders.reserve(streams.size());
  for (const AskedStream &stream : streams) orders.push_back(order_of(stream));
  std::vector<Combination> found;
  const std::vector<uint64_t> row_times = rows.multiplicities();
  const std::optional<Symbol> only = only_row(row_times);
  // One row, as nearly always, needs no pairing with the first stream.
  Grammar all = only ? *orders[0] : rows;
  std::vector<std::vector<Symbol>> meaning;  // of the symbols of `all`: the row, then values
  if (only) {
    for (Symbol value = 0; value < streams[0].variant->values.size(); ++value) meaning.push_back({*only, value});
  } else {
    for (Symbol row = 0; row < row_times.size(); ++row) meaning.push_back({row});
  }
  bool paired = true;
  for (size_t i = only ? 1 : 0; i < orders.size() && paired; ++i) {
    const size_t terms = grammar::term_count(all) + grammar::term_count(*orders[i]);
    auto pairs = grammar::product(all, *orders[i], kSteps + kStepsATerm * terms);
    paired = pairs.has_value();
    if (!paired) break;
    std::vector<std::vector<Symbol>> next;
    for (const auto &[before, value] : pairs->of) {
      next.push_back(meaning[before]);
      next.back().push_back(value);
    }
    meaning = std::move(next);
    all = std::move(pairs->pairs);
  }
  if (paired) {
    const std::vector<uint64_t> times = all.multiplicities();
    std::map<std::vector<Symbol>, size_t> places;
    for (Symbol i = 0; i < times.size(); ++i) {
      if (times[i] == 0) continue;
      const auto [place, fresh] = places.try_emplace(meaning[i], found.size());
      if (fresh) found.push_back({meaning[i][0], {meaning[i].begin() + 1, meaning[i].end()}, 0});
      found[place->second].count += times[i];
    }
    return found;
  }
  std::map<std::vector<Symbol>, size_t> places;
  std::vector<grammar::Walker> walkers;
  walkers.reserve(orders.size());
  for (const GrammarPointer &order : orders) walkers.emplace_back(*order);
  grammar::Walker walker(rows);
  for (Symbol row = walker.next(); row != grammar::kNoSymbol; row = walker.next()) {
    std::vector<Symbol> key{row};
    for (grammar::Walker &each : walkers) key.push_back(each.next());
    const auto [place, fresh] = places.try_emplace(key, found.size());
    if (fresh) found.push_back({row, {key.begin() + 1, key.end()}, 0});
    ++found[place->second].count;
  }
  return found;
}

}  // namespace cairn::trace
