#include "trace/read/partial_rows.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/as_size.h"
#include "grammar/product.h"
#include "trace/model/row_fields.h"
#include "trace/read/stream_reader.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

/// What is left of a field's first atom where only constants are asked for.
Atom constant_of(Atom first) { return is_special(first) ? first : 0; }

/// The fields asked for of one row along all its members.
class FieldsAlong {
 public:
  FieldsAlong(const ClassRow &row, const AskedFields &asked) {
    RowFields fields(row);
    for (size_t f = 0; f < row.heads.size(); ++f) {
      const FieldHead &head = fields.next();
      if (f >= asked.size() || asked[f] == Asked::no || head.kind == FieldHead::moved) continue;
      One &one = fields_.emplace_back();
      one.field = f;
      if (head.kind == FieldHead::text) {
        one.fixed.is_bytes = true;
        one.fixed.bytes = fields.text();
      } else if (head.kind == FieldHead::table) {
        one.table = fields.table();
      } else if (asked[f] == Asked::constant && head.count != 0) {
        one.fixed.atoms.push_back(constant_of(fields.atom(0)));
        if (const ColumnPointer column = fields.column(0)) {
          std::vector<Atom> values = column->expand();
          std::transform(values.begin(), values.end(), values.begin(), constant_of);
          if (std::any_of(values.begin(), values.end(), [](Atom value) { return value != 0; })) {
            one.varied.emplace_back(0, std::move(values));
          }
        }
      } else {
        for (uint32_t i = 0; i < head.count; ++i) {
          one.fixed.atoms.push_back(fields.atom(i));
          if (const ColumnPointer column = fields.column(i)) one.varied.emplace_back(i, column->expand());
        }
      }
      varies_ = varies_ || one.table != nullptr || !one.varied.empty();
    }
  }
  [[nodiscard]] bool varies() const { return varies_; }

  /// Gives each of these members a number, so that only those have the same one that had it and have equal fields. False:
  /// they have fields that cannot be told so.
  bool tell_apart(const std::vector<uint64_t> &members, std::vector<uint32_t> *numbers) const {
    for (const One &one : fields_) {
      if (one.table != nullptr) return false;
      for (const auto &varied : one.varied) {
        std::unordered_map<std::pair<uint32_t, Atom>, uint32_t, PairHash> met;
        for (size_t i = 0; i < members.size(); ++i) {
          const std::pair<uint32_t, Atom> key{(*numbers)[i], varied.second[as_size(members[i])]};
          (*numbers)[i] = met.try_emplace(key, static_cast<uint32_t>(met.size())).first->second;
        }
      }
    }
    return true;
  }

  /// What does not vary is there already where `first` is false.
  void fill(uint64_t member, bool first, Row *row) const {
    for (const One &one : fields_) {
      Field &field = row->fields[one.field];
      if (one.table != nullptr) {
        ByteReader in(one.table->at(member));
        field = unpack_field(in);
        continue;
      }
      if (first) field = one.fixed;
      for (const auto &[atom, values] : one.varied) field.atoms[atom] = values[as_size(member)];
    }
  }

 private:
  struct PairHash {
    size_t operator()(const std::pair<uint32_t, Atom> &pair) const {
      return (static_cast<size_t>(pair.second) + pair.first * size_t{0x9e3779b9}) * 0x9e3779b97f4a7c15U >> 20;
    }
  };
  struct One {
    size_t field = 0;
    Field fixed;
    TablePointer table;
    std::vector<std::pair<uint32_t, std::vector<Atom>>> varied;
  };
  std::vector<One> fields_;
  bool varies_ = false;
};

/// A stream of a field asked for, as some members have it.
struct AskedStream {
  uint32_t field = 0;
  Asked asked = Asked::no;
  const StreamVariant *variant = nullptr;
};

/// A row with these values of its streams.
struct Combination {
  uint32_t row = 0;
  std::vector<Symbol> values;  ///< by stream
  uint64_t count = 0;
};

/// What a value of a stream is on all members where only constants are asked for; nullopt: not the same on all.
std::optional<Atom> constant_of(const ClassRow &value) {
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
    const std::optional<Atom> constant = constant_of(*variant.values[i]);
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

/// How often each row stands with which values of the streams, of which there must be one.
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

using Visit = std::function<void(const PartialRow &, std::span<const uint32_t>)>;

class Partial {
 public:
  /// `alike`: members with equal rows are given together.
  Partial(const Trace &trace, uint32_t class_index, const std::vector<bool> &ranks, bool alike, const Visit &visit)
      : trace_(trace),
        class_index_(class_index),
        part_(class_part_of(trace, class_index)),
        alike_(alike),
        visit_(visit) {
    uint64_t member = 0;
    for (const uint32_t rank : part_.ranks.expand()) {
      if (rank < ranks.size() && ranks[rank]) members_.emplace_back(rank, member);
      ++member;
    }
  }

  void run(const std::function<AskedFields(const Structure::RowHead &)> &asks) {
    if (members_.empty()) return;
    const RowGroups groups(part_.rows);
    const std::vector<Structure::RowHead> heads = structure_of(trace_, class_index_).rows;
    std::vector<std::vector<uint32_t>> rows(groups.count());
    for (uint32_t row = 0; row < part_.rows.size(); ++row) rows[groups.of_row[row]].push_back(row);
    std::vector<std::vector<const Stream *>> streams(groups.count());
    for (const Stream &stream : part_.streams) streams[stream.group].push_back(&stream);
    const std::vector<uint64_t> counts = part_.calls->multiplicities();
    for (uint32_t group = 0; group < groups.count(); ++group) {
      asked_ = asks(heads[groups.first_row[group]]);
      if (asked_.empty()) continue;
      if (!is_call(part_.rows[groups.first_row[group]]->kind)) {
        expanded(groups, group);
        continue;
      }
      std::vector<const Stream *> asked_streams;
      for (const Stream *stream : streams[group]) {
        if (stream->field < asked_.size() && asked_[stream->field] != Asked::no) asked_streams.push_back(stream);
      }
      if (asked_streams.empty()) {
        std::vector<Combination> plain;
        for (const uint32_t row : rows[group]) {
          if (row < counts.size() && counts[row] != 0) plain.push_back({row, {}, counts[row]});
        }
        give(std::move(plain), {}, members_);
        continue;
      }
      streamed(groups, group, asked_streams);
    }
  }

 private:
  using Members = std::vector<std::pair<uint32_t, uint64_t>>;  ///< ranks, with their places in the class

  void streamed(const RowGroups &groups, uint32_t group, const std::vector<const Stream *> &streams) {
    const Grammar rows = part_.calls->projected([&](uint32_t row) { return groups.of_row[row] == group; });
    std::map<std::vector<size_t>, Members> alike;  // by the variants that they have
    for (const auto &member : members_) {
      std::vector<size_t> variants;
      for (const Stream *stream : streams) {
        size_t variant = 0;
        while (variant < stream->variants.size() && !stream->variants[variant].ranks.index_of(member.first)) ++variant;
        if (variant < stream->variants.size()) variants.push_back(variant);
      }
      if (variants.size() == streams.size()) alike[variants].push_back(member);
    }
    for (const auto &[variants, members] : alike) {
      std::vector<AskedStream> asked;
      bool differences = false;
      for (size_t i = 0; i < streams.size(); ++i) {
        const StreamVariant &variant = streams[i]->variants[variants[i]];
        asked.push_back({streams[i]->field, asked_[streams[i]->field], &variant});
        differences = differences || (variant.differences && asked.back().asked == Asked::yes);
      }
      if (!differences) {
        give(combinations(rows, asked), asked, members);
        continue;
      }
      for (const auto &member : members) walk(rows, asked, member);
    }
  }

  /// Call by call, as one member has the streams.
  void walk(const Grammar &rows, const std::vector<AskedStream> &asked, const std::pair<uint32_t, uint64_t> &member) {
    struct Met {
      std::vector<Field> values;
      uint64_t count = 0;
    };
    std::vector<StreamReader> readers;
    readers.reserve(asked.size());
    for (const AskedStream &stream : asked) {
      readers.emplace_back(*stream.variant, stream.field, *stream.variant->ranks.index_of(member.first), false);
    }
    std::map<std::pair<uint32_t, Bytes>, Met> met;
    grammar::Walker walker(rows);
    for (Symbol row = walker.next(); row != grammar::kNoSymbol; row = walker.next()) {
      ByteWriter key;
      ByteWriter unused;
      for (size_t i = 0; i < readers.size(); ++i) readers[i].next(asked[i].asked == Asked::yes ? &key : &unused);
      for (size_t i = 0; i < readers.size(); ++i) {
        if (asked[i].asked == Asked::yes) continue;
        const std::vector<Atom> &atoms = readers[i].value().atoms;
        key.signed_varint(atoms.empty() ? 0 : constant_of(atoms[0]));
      }
      Met &here = met[{row, key.take()}];
      if (here.count++ == 0) {
        for (const StreamReader &reader : readers) here.values.push_back(reader.value());
      }
    }
    std::map<uint32_t, std::unique_ptr<FieldsAlong>> fields;
    for (const auto &[key, here] : met) {
      std::unique_ptr<FieldsAlong> &along = fields[key.first];
      if (along == nullptr) along = std::make_unique<FieldsAlong>(*part_.rows[key.first], asked_);
      Row row = empty(key.first);
      along->fill(member.second, true, &row);
      for (size_t i = 0; i < asked.size(); ++i) row.fields[asked[i].field] = here.values[i];
      visit_({member.first, key.first, &row, here.count}, {&member.first, 1});
    }
  }

  void give(std::vector<Combination> combinations, const std::vector<AskedStream> &asked, const Members &members) {
    std::stable_sort(combinations.begin(), combinations.end(),
                     [](const auto &a, const auto &b) { return a.row < b.row; });
    // Values of streams recur in many combinations.
    std::vector<std::vector<std::optional<FieldsAlong>>> values(asked.size());
    std::vector<std::vector<uint64_t>> places(asked.size());
    for (size_t i = 0; i < asked.size(); ++i) {
      values[i].resize(asked[i].variant->values.size());
      for (const auto &[rank, member] : members) places[i].push_back(*asked[i].variant->ranks.index_of(rank));
    }
    std::unique_ptr<FieldsAlong> along;
    uint32_t of_row = UINT32_MAX;
    for (const Combination &each : combinations) {
      if (of_row != each.row) along = std::make_unique<FieldsAlong>(*part_.rows[each.row], asked_);
      of_row = each.row;
      Row row = empty(each.row);
      std::vector<const FieldsAlong *> own(asked.size());
      for (size_t i = 0; i < asked.size(); ++i) {
        if (each.values[i] >= values[i].size()) continue;  // only if the trace contradicts itself
        std::optional<FieldsAlong> &known = values[i][each.values[i]];
        if (!known) known.emplace(*asked[i].variant->values[each.values[i]], AskedFields{asked[i].asked});
        own[i] = &*known;
      }
      bool first = true;
      Row value;
      value.fields.resize(1);
      const auto fill = [&](size_t m) {
        if (first || along->varies()) along->fill(members[m].second, first, &row);
        for (size_t i = 0; i < asked.size(); ++i) {
          if (own[i] == nullptr || (!first && !own[i]->varies())) continue;
          own[i]->fill(places[i][m], true, &value);
          row.fields[asked[i].field] = value.fields[0];
        }
        first = false;
      };
      if (alike_) {
        std::vector<uint32_t> numbers(members.size());
        bool told = along->tell_apart(places_of(members), &numbers);
        for (size_t i = 0; i < asked.size() && told; ++i) told = own[i] == nullptr || own[i]->tell_apart(places[i], &numbers);
        if (told) {
          give_alike(members, numbers, [&](size_t m, std::span<const uint32_t> ranks) {
            fill(m);
            visit_({ranks.front(), each.row, &row, each.count}, ranks);
          });
          continue;
        }
      }
      for (size_t m = 0; m < members.size(); ++m) {
        fill(m);
        visit_({members[m].first, each.row, &row, each.count}, {&members[m].first, 1});
      }
    }
  }

  static std::vector<uint64_t> places_of(const Members &members) {
    std::vector<uint64_t> places;
    places.reserve(members.size());
    for (const auto &[rank, member] : members) places.push_back(member);
    return places;
  }

  /// `give(m, ranks)`: the first of the members of a number, and the ranks of all of them.
  template <typename Give>
  static void give_alike(const Members &members, const std::vector<uint32_t> &numbers, Give give) {
    const uint32_t most = *std::max_element(numbers.begin(), numbers.end());
    std::vector<size_t> ends(size_t{most} + 2);
    for (const uint32_t number : numbers) ++ends[number + 1];
    for (size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    std::vector<size_t> next(ends.begin(), ends.end() - 1);
    std::vector<uint32_t> ranks(members.size());
    std::vector<size_t> firsts(size_t{most} + 1, SIZE_MAX);
    for (size_t m = 0; m < members.size(); ++m) {
      firsts[numbers[m]] = std::min(firsts[numbers[m]], m);
      ranks[next[numbers[m]]++] = members[m].first;
    }
    for (uint32_t number = 0; number <= most; ++number) {
      if (ends[number] == ends[number + 1]) continue;
      give(firsts[number], std::span<const uint32_t>(ranks).subspan(ends[number], ends[number + 1] - ends[number]));
    }
  }

  /// Rows that stand for many calls.
  void expanded(const RowGroups &groups, uint32_t group) {
    const auto wanted = [&](uint32_t row) { return groups.of_row[row] == group; };
    for (const auto &[rank, member] : members_) {
      for (const CountedRow &call : trace_.counted_rows({rank, part_.thread, part_.segment, class_index_, 0}, wanted)) {
        visit_({rank, call.class_row, &call.row, call.count}, {&rank, 1});
      }
    }
  }

  [[nodiscard]] Row empty(uint32_t row) const {
    const ClassRow &from = *part_.rows[row];
    Row made;
    made.function = from.function;
    made.site = from.site;
    made.depth = from.depth;
    made.fields.resize(call_fields(from));
    return made;
  }

  const Trace &trace_;
  uint32_t class_index_;
  const ClassPart &part_;
  bool alike_;
  const Visit &visit_;
  Members members_;
  AskedFields asked_;
};

}  // namespace

void each_partial_row(const Trace &trace, uint32_t class_index, const std::vector<bool> &ranks,
                      const std::function<AskedFields(const Structure::RowHead &)> &asks,
                      const std::function<void(const PartialRow &)> &visit) {
  const Visit each = [&visit](const PartialRow &row, std::span<const uint32_t>) { visit(row); };
  Partial(trace, class_index, ranks, false, each).run(asks);
}

void each_partial_row_alike(const Trace &trace, uint32_t class_index, const std::vector<bool> &ranks,
                            const std::function<AskedFields(const Structure::RowHead &)> &asks,
                            const std::function<void(const PartialRow &, std::span<const uint32_t> ranks)> &visit) {
  Partial(trace, class_index, ranks, true, visit).run(asks);
}

}  // namespace cairn::trace
