// What is worth moving, for one rank: estimates in bytes of the file (class_writer.cc, before it is packed).
#include <algorithm>
#include <map>
#include <set>

#include "grammar/product.h"
#include "trace/atom_code.h"
#include "trace/streams.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

constexpr size_t kFewestRows = 4;    // fewer rows cannot cost more than a stream
constexpr size_t kFewestValues = 6;  // the same for differences of values
constexpr size_t kStreamBytes = 6;   // of a stream beside its order and values

size_t varint_bytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

/// A list of rows as class_writer.cc writes it: each against the last one of its shape.
class RowBytes {
 public:
  size_t add(const ClassRow &row) {
    const ClassRow *&last = last_[row.heads];
    size_t bytes = 2 + (row.atoms.size() + row.texts.size() + 7) / 8;
    for (size_t i = 0; i < row.atoms.size(); ++i) {
      if (last == nullptr || last->atoms[i] != row.atoms[i]) bytes += varint_bytes(atom_code(row.atoms[i]));
    }
    for (size_t i = 0; i < row.texts.size(); ++i) {
      if (last == nullptr || last->texts[i] != row.texts[i]) bytes += 2 + row.texts[i].size();
    }
    last = &row;
    return bytes;
  }

 private:
  struct Less {
    bool operator()(const std::vector<FieldHead> &a, const std::vector<FieldHead> &b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](FieldHead x, FieldHead y) {
        return std::pair(x.kind, x.count) < std::pair(y.kind, y.count);
      });
    }
  };
  std::map<std::vector<FieldHead>, const ClassRow *, Less> last_;
};

bool is_one_atom(const ClassRow &row) { return row.heads[0] == FieldHead{FieldHead::atoms, 1}; }

size_t values_bytes(const std::vector<RowPointer> &values) {
  if (std::all_of(values.begin(), values.end(), [](const RowPointer &row) { return is_one_atom(*row); })) {
    FoldColumn column;
    for (const RowPointer &row : values) column.append(row->atoms[0]);
    ByteWriter out;
    column.write(out);
    return out.size();
  }
  RowBytes bytes;
  size_t sum = 0;
  for (const RowPointer &row : values) sum += bytes.add(*row);
  return sum;
}

Bytes order_bytes(const Grammar &order) {
  ByteWriter out;
  order.write(out);
  return out.take();
}

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
  std::set<Bytes> orders;  // stored once each
  size_t bytes = 0;
  for (Stream &stream : *streams) {
    if (stream.group != group || stream.field >= counts) continue;
    StreamVariant &variant = stream.variants[0];
    Bytes order = order_bytes(*variant.order);
    size_t cost = values_bytes(variant.values) + (orders.contains(order) ? 2 : order.size());
    if (std::optional<StreamVariant> other = differences_of(variant)) {
      Bytes other_order = order_bytes(*other->order);
      const size_t other_cost = values_bytes(other->values) + (orders.contains(other_order) ? 2 : other_order.size());
      if (other_cost < cost) {
        cost = other_cost;
        order = std::move(other_order);
        variant = *std::move(other);
      }
    }
    orders.insert(std::move(order));
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

}  // namespace

void move_by_cost(ClassPart *part) {
  const RowGroups groups(part->rows);
  std::vector<std::vector<uint32_t>> members(groups.count());
  for (uint32_t row = 0; row < part->rows.size(); ++row) members[groups.of_row[row]].push_back(row);
  std::vector<size_t> terms;
  std::vector<MovedFields> moves;
  size_t row_bytes = 0;
  for (uint32_t group = 0; group < groups.count(); ++group) {
    if (members[group].size() < kFewestRows) continue;
    RowBytes bytes;
    bytes.add(*part->rows[members[group][0]]);
    size_t cost = 0;
    for (size_t i = 1; i < members[group].size(); ++i) cost += bytes.add(*part->rows[members[group][i]]);
    if (terms.empty()) terms = terms_of_groups(*part->calls, groups);
    // A trial with this group alone.
    MovedFields move{group, varying_fields(*part, groups, group)};
    std::vector<Stream> streams = streams_of(move, groups, *part);
    const size_t stream_bytes = choose_forms(&streams, group, SIZE_MAX);
    if (stream_bytes >= cost + terms[group]) continue;
    row_bytes += cost;
    moves.push_back(std::move(move));
  }
  if (moves.empty()) return;

  ClassPart moved = *part;
  move_out(moves, &moved);
  size_t after = order_bytes(*moved.calls).size();
  for (const MovedFields &move : moves) {
    after += choose_forms(&moved.streams, move.group, call_fields(*part->rows[groups.first_row[move.group]]));
  }
  if (after >= order_bytes(*part->calls).size() + row_bytes) return;
  for (StatsBlock &block : moved.stats) block.join_slots();
  *part = std::move(moved);
}

}  // namespace cairn::trace
