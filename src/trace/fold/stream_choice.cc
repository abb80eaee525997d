// What is worth moving, for one rank: estimates in bytes of the file (class_writer.cc, before it is packed).
#include <algorithm>
#include <iterator>
#include <map>

#include "grammar/product.h"
#include "trace/fold/stream_bytes.h"
#include "trace/fold/stream_trial.h"
#include "trace/fold/streams.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

constexpr size_t kFewestRows = 4;                       // fewer rows cannot cost more than a stream
constexpr uint64_t kCheaplyParsed = uint64_t{1} << 16;  // calls: a few milliseconds
constexpr uint64_t kRegularParsed = uint64_t{1} << 22;  // of a few nanoseconds each

/// The same stream as differences; nothing where that is not defined.
std::optional<StreamVariant> differences_of(const StreamVariant &variant) {
  const std::vector<RowPointer> &values = variant.values;
  const FieldHead head = values[0]->heads[0];
  if (values.size() < kFewestValues || variant.order->length() > worth_parsing(*variant.order) ||
      head.kind != FieldHead::atoms || head.count == 0) {
    return std::nullopt;
  }
  if (!std::all_of(values.begin(), values.end(), [&](const RowPointer &row) { return row->heads[0] == head; })) {
    return std::nullopt;
  }
  StreamVariant result{variant.ranks, true, nullptr, {}, {}};
  std::vector<uint64_t> last(head.count, 0);
  std::map<std::vector<Atom>, Symbol> known;
  std::vector<Symbol> symbols;
  grammar::Walker walker(*variant.order);
  std::vector<Atom> difference(head.count);
  for (Symbol value = walker.next(); value != grammar::kNoSymbol; value = walker.next()) {
    const std::vector<Atom> &atoms = values[value]->atoms;
    for (size_t i = 0; i < atoms.size(); ++i) {
      difference[i] = atoms[i];
      if (is_special(atoms[i])) continue;
      difference[i] = static_cast<Atom>(static_cast<uint64_t>(atoms[i]) - last[i]);
      if (is_special(difference[i])) return std::nullopt;
      last[i] = static_cast<uint64_t>(atoms[i]);
    }
    const auto [entry, added] = known.emplace(difference, static_cast<Symbol>(known.size()));
    if (added) {
      auto row = std::make_shared<ClassRow>();
      row->heads.push_back(head);
      row->atoms = difference;
      result.values.push_back(std::move(row));
    }
    symbols.push_back(entry->second);
    // More different differences than values, half way through: the values had better stay.
    if (known.size() > values.size()) return std::nullopt;
  }
  result.order = std::make_shared<const Grammar>(Grammar::from_symbols(symbols));
  result.set_key();
  return result;
}

/// Of all streams of a group, the forms that take fewer bytes; what they take together. Counts, which are from field
/// `counts` on, stay as they are: readers add them up.
size_t choose_forms(std::vector<Stream> *streams, uint32_t group, size_t counts) {
  OrderBytes orders;
  size_t bytes = 0;
  for (Stream &stream : *streams) {
    if (stream.group != group || stream.field >= counts) continue;
    StreamVariant &variant = stream.variants[0];
    Bytes order = order_bytes(*variant.order);
    size_t cost = values_bytes(variant.values) + orders.cost(order);
    if (std::optional<StreamVariant> other = differences_of(variant)) {
      Bytes other_order = order_bytes(*other->order);
      const size_t other_cost = values_bytes(other->values) + orders.cost(other_order);
      if (other_cost < worth_differences(cost)) {
        cost = other_cost;
        order = std::move(other_order);
        variant = *std::move(other);
      }
    }
    orders.add(std::move(order));
    bytes += cost + kStreamBytes;
  }
  return bytes;
}

/// Terms of the grammar that stand for each group.
std::vector<size_t> terms_of_groups(const Grammar &calls, const RowGroups &groups) {
  std::vector<size_t> terms(groups.count());
  for (const grammar::Body &rule : calls.rules()) {
    for (const grammar::Term &term : rule) {
      if (!term.is_rule) ++terms[groups.of_row[term.id]];
    }
  }
  return terms;
}

/// The groups with many rows, and what these are.
class ManyRows {
 public:
  ManyRows(const ClassPart &part, const RowGroups &groups) : part_(part), groups_(groups), members_(groups.count()) {
    for (uint32_t row = 0; row < part.rows.size(); ++row) members_[groups.of_row[row]].push_back(row);
  }
  [[nodiscard]] bool has(uint32_t group) const { return members_[group].size() >= kFewestRows; }
  [[nodiscard]] const std::vector<uint32_t> &of(uint32_t group) const { return members_[group]; }
  /// The group's calls in order, as places among its rows; for a sequence that is worth going through call by call,
  /// which is done once for all groups.
  const std::vector<uint32_t> &calls(uint32_t group) {
    if (calls_.empty()) expand();
    return calls_[group];
  }

 private:
  void expand() {
    calls_.resize(groups_.count());
    std::vector<uint32_t> place(part_.rows.size());
    for (const std::vector<uint32_t> &rows : members_) {
      for (uint32_t i = 0; i < rows.size(); ++i) place[rows[i]] = i;
    }
    grammar::Walker walker(*part_.calls);
    for (Symbol row = walker.next(); row != grammar::kNoSymbol; row = walker.next()) {
      const uint32_t group = groups_.of_row[row];
      if (has(group)) calls_[group].push_back(place[row]);
    }
  }

  const ClassPart &part_;
  const RowGroups &groups_;
  std::vector<std::vector<uint32_t>> members_;
  std::vector<std::vector<uint32_t>> calls_;
};

/// What has been found worth moving, and what it becomes.
struct Choice {
  std::vector<MovedFields> moves;
  std::vector<Stream> streams;
  size_t stream_bytes = 0;
  size_t row_bytes = 0;  ///< of the rows that would be gone
};

/// Tries one group alone: its varying fields as streams, if they take fewer than `most` bytes.
std::optional<std::vector<Stream>> streams_below(const ClassPart &part, const RowGroups &groups,
                                                 const MovedFields &move, ManyRows *rows, size_t most, size_t *bytes) {
  if (part.calls->length() <= worth_parsing(*part.calls)) {
    StreamTrial trial(part, move.group, rows->of(move.group), rows->calls(move.group));
    std::optional<std::vector<Stream>> streams = trial.run(move.fields, most);
    *bytes = trial.bytes();
    return streams;
  }
  std::vector<Stream> streams = streams_of(move, groups, part);
  *bytes = choose_forms(&streams, move.group, SIZE_MAX);
  if (*bytes >= most) return std::nullopt;
  return streams;
}

/// `parsed`: the terms that stand for a group are as many as there will be. Else each row stands at least once.
Choice choose(const ClassPart &part, const RowGroups &groups, bool parsed) {
  Choice choice;
  ManyRows rows(part, groups);
  std::vector<size_t> terms;
  for (uint32_t group = 0; group < groups.count(); ++group) {
    if (!rows.has(group)) continue;
    const std::vector<uint32_t> &members = rows.of(group);
    RowBytes bytes;
    bytes.add(*part.rows[members[0]]);
    size_t cost = 0;
    for (size_t i = 1; i < members.size(); ++i) cost += bytes.add(*part.rows[members[i]]);
    if (parsed && terms.empty()) terms = terms_of_groups(*part.calls, groups);
    MovedFields move{group, varying_fields(part, members)};
    size_t stream_bytes = 0;
    std::optional<std::vector<Stream>> streams =
        streams_below(part, groups, move, &rows, cost + (parsed ? terms[group] : members.size()), &stream_bytes);
    if (!streams) continue;
    choice.row_bytes += cost;
    choice.stream_bytes += stream_bytes;
    choice.moves.push_back(std::move(move));
    std::move(streams->begin(), streams->end(), std::back_inserter(choice.streams));
  }
  return choice;
}

}  // namespace

void move_by_cost(ClassPart *part, bool parsed) {
  const RowGroups groups(part->rows);
  const uint64_t worth = worth_parsing(*part->calls);
  const auto parse = [&] {
    part->calls = std::make_shared<const Grammar>(reparsed(*part->calls, std::max(worth, kRegularParsed)));
    parsed = true;
  };
  // What has many calls a term repeats itself: that may be all loops, once what told its turns apart is gone.
  if (!parsed && (part->calls->length() <= kCheaplyParsed || part->calls->length() > worth)) parse();
  Choice choice = choose(*part, groups, parsed);
  if (choice.moves.empty()) {
    if (!parsed) parse();
    return;
  }

  ClassPart moved = *part;
  size_t after = choice.stream_bytes;
  // What had moved before may take fewer bytes in another form, too.
  for (const MovedFields &move : choice.moves) {
    after += choose_forms(&moved.streams, move.group, call_fields(*part->rows[groups.first_row[move.group]]));
  }
  move_out(choice.moves, std::move(choice.streams), &moved);
  // The calls of fewer rows, which move_out has parsed, take no more than those of all.
  if (parsed || after >= choice.row_bytes) {
    if (!parsed) parse();
    if (after + order_bytes(*moved.calls).size() >= order_bytes(*part->calls).size() + choice.row_bytes) return;
  }
  for (StatsBlock &block : moved.stats) block.join_slots(moved.rows.size());
  *part = std::move(moved);
}

}  // namespace cairn::trace
