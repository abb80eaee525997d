#include "trace/fold/stream_trial.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "trace/values/numbering.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

/// Where a field of a row lies.
struct FieldPlace {
  const ClassRow *row;
  FieldHead head;
  uint32_t at;  ///< in the row's atoms or texts

  [[nodiscard]] std::span<const Atom> atoms() const { return {row->atoms.data() + at, head.count}; }
  [[nodiscard]] uint64_t hash() const {
    const uint64_t seed = uint64_t{head.count} << 2 | head.kind;
    if (head.kind == FieldHead::text) return hash64(row->texts[at], seed);
    if (head.kind != FieldHead::atoms) return seed;
    return hash64({reinterpret_cast<const uint8_t *>(atoms().data()), atoms().size_bytes()}, seed);
  }
  [[nodiscard]] bool same(const FieldPlace &other) const {
    if (head != other.head) return false;
    if (head.kind == FieldHead::text) return row->texts[at] == other.row->texts[other.at];
    return head.kind != FieldHead::atoms || std::equal(atoms().begin(), atoms().end(), other.atoms().begin());
  }
};

/// Rows of one rank have neither columns nor tables.
FieldPlace place_of(const ClassRow &row, uint32_t field) {
  uint32_t atoms = 0;
  uint32_t texts = 0;
  for (uint32_t f = 0; f < field; ++f) {
    if (row.heads[f].kind == FieldHead::atoms) atoms += row.heads[f].count;
    if (row.heads[f].kind == FieldHead::text) ++texts;
  }
  const FieldHead head = row.heads[field];
  return {&row, head, head.kind == FieldHead::text ? texts : atoms};
}

/// A field's values in the order of the calls, numbered in order of first occurrence there.
struct FieldValues {
  std::vector<Symbol> symbols;
  std::vector<RowPointer> values;
};

FieldValues values_of(const ClassPart &part, const std::vector<uint32_t> &members, const std::vector<uint32_t> &calls,
                      uint32_t field) {
  Numbering numbering;
  std::vector<FieldPlace> distinct;
  std::vector<uint32_t> number;  // of each member's value
  number.reserve(members.size());
  for (const uint32_t row : members) {
    const FieldPlace place = place_of(*part.rows[row], field);
    const uint32_t n = numbering.number(place.hash(), [&](uint32_t other) { return distinct[other].same(place); });
    if (n == distinct.size()) distinct.push_back(place);
    number.push_back(n);
  }
  FieldValues result;
  result.symbols.reserve(calls.size());
  std::vector<Symbol> symbol(distinct.size(), grammar::kNoSymbol);
  for (const uint32_t call : calls) {
    const uint32_t value = number[call];
    if (symbol[value] == grammar::kNoSymbol) {
      symbol[value] = static_cast<Symbol>(result.values.size());
      result.values.push_back(only_field(*distinct[value].row, field));
    }
    result.symbols.push_back(symbol[value]);
  }
  return result;
}

}  // namespace

/// The sequence as a variant, and what it takes, if that is less than `most` bytes.
std::optional<StreamVariant> StreamTrial::parsed(std::vector<Symbol> symbols, std::vector<RowPointer> values,
                                                 bool differences, size_t most, size_t *cost) {
  const size_t fixed = values_bytes(values) + kStreamBytes;
  if (fixed >= most) return std::nullopt;
  auto known = std::find_if(known_.begin(), known_.end(), [&](const Known &k) { return k.symbols == symbols; });
  if (known == known_.end()) {
    // A term takes a byte or more, unless it is a symbol's first.
    std::optional<Grammar> order = Grammar::from_symbols(symbols, most - fixed + values.size());
    if (!order) return std::nullopt;
    known_.push_back({std::move(symbols), std::make_shared<const Grammar>(*std::move(order))});
    known = known_.end() - 1;
  }
  const size_t bytes = fixed + orders_.cost(order_bytes(*known->order));
  if (bytes >= most) return std::nullopt;
  *cost = bytes;
  return StreamVariant{part_.ranks, differences, known->order, std::move(values), {}};
}

/// The same stream as differences; nothing where that is not defined, or takes `most` bytes.
std::optional<StreamVariant> StreamTrial::differences(const std::vector<Symbol> &symbols,
                                                      const std::vector<RowPointer> &values, size_t most,
                                                      size_t *cost) {
  const FieldHead head = values[0]->heads[0];
  if (values.size() < kFewestValues || head.kind != FieldHead::atoms || head.count == 0 ||
      !std::all_of(values.begin(), values.end(), [&](const RowPointer &row) { return row->heads[0] == head; })) {
    return std::nullopt;
  }
  Numbering numbering;
  std::vector<RowPointer> steps;
  std::vector<Symbol> order;
  order.reserve(symbols.size());
  std::vector<uint64_t> last(head.count, 0);
  std::vector<Atom> step(head.count);
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(step.data()), step.size() * sizeof(Atom));
  for (const Symbol value : symbols) {
    const std::vector<Atom> &atoms = values[value]->atoms;
    for (size_t i = 0; i < atoms.size(); ++i) {
      step[i] = atoms[i];
      if (is_special(atoms[i])) continue;
      step[i] = static_cast<Atom>(static_cast<uint64_t>(atoms[i]) - last[i]);
      if (is_special(step[i])) return std::nullopt;
      last[i] = static_cast<uint64_t>(atoms[i]);
    }
    const uint32_t n = numbering.number(hash64(bytes), [&](uint32_t other) { return steps[other]->atoms == step; });
    if (n == steps.size()) {
      auto row = std::make_shared<ClassRow>();
      row->heads.push_back(head);
      row->atoms = step;
      steps.push_back(std::move(row));
      // More different differences than values, half way through: the values had better stay.
      if (steps.size() > values.size()) return std::nullopt;
    }
    order.push_back(n);
  }
  return parsed(std::move(order), std::move(steps), true, most, cost);
}

std::optional<std::vector<Stream>> StreamTrial::run(const std::vector<uint32_t> &fields, size_t most) {
  std::vector<Stream> streams;
  bytes_ = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t spent = bytes_ + (fields.size() - i - 1) * kStreamBytes;  // at least
    if (spent >= most) return std::nullopt;
    FieldValues field = values_of(part_, members_, calls_, fields[i]);
    size_t cost = most - spent;
    std::optional<StreamVariant> best = parsed(field.symbols, field.values, false, cost, &cost);
    const size_t most_of_differences = best ? worth_differences(cost) : cost;
    if (auto other = differences(field.symbols, field.values, most_of_differences, &cost)) best = std::move(other);
    if (!best) return std::nullopt;
    orders_.add(order_bytes(*best->order));
    best->set_key();
    bytes_ += cost;
    Stream stream{group_, fields[i], {}};
    stream.variants.push_back(*std::move(best));
    streams.push_back(std::move(stream));
  }
  return streams;
}

}  // namespace cairn::trace
