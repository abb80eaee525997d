#include "trace/read/partial_rows.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/as_size.h"
#include "base/saturating.h"
#include "trace/model/row_fields.h"
#include "trace/read/fields_along.h"
#include "trace/read/row_combinations.h"
#include "trace/read/stream_reader.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

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
      summed_ = static_cast<size_t>(std::find(asked_.begin(), asked_.end(), Asked::sum) - asked_.begin());
      if (!is_call(part_.rows[groups.first_row[group]]->kind)) {
        expanded(groups, group);
        continue;
      }
      std::vector<const Stream *> asked_streams;
      for (const Stream *stream : streams[group]) {
        if (stream->field < asked_.size() && asked_[stream->field] != Asked::no) asked_streams.push_back(stream);
      }
      std::stable_partition(asked_streams.begin(), asked_streams.end(),
                            [&](const Stream *stream) { return stream->field != summed_; });
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
      tell(key.first, &row, here.count, {&member.first, 1});
    }
  }

  /// The values of streams, each along its members. They recur in many combinations.
  class StreamValues {
   public:
    StreamValues(const std::vector<AskedStream> &asked, const Members &members)
        : asked_(asked), values_(asked.size()), places_(asked.size()) {
      for (size_t i = 0; i < asked.size(); ++i) {
        values_[i].resize(asked[i].variant->values.size());
        for (const auto &[rank, member] : members) places_[i].push_back(*asked[i].variant->ranks.index_of(rank));
      }
    }
    /// nullptr only if the trace contradicts itself.
    const FieldsAlong *value(size_t stream, Symbol symbol) {
      if (symbol >= values_[stream].size()) return nullptr;
      std::optional<FieldsAlong> &known = values_[stream][symbol];
      if (!known) known.emplace(*asked_[stream].variant->values[symbol], AskedFields{asked_[stream].asked});
      return &*known;
    }
    /// Where the members stand among those of the variant.
    [[nodiscard]] const std::vector<uint64_t> &places(size_t stream) const { return places_[stream]; }

   private:
    const std::vector<AskedStream> &asked_;
    std::vector<std::vector<std::optional<FieldsAlong>>> values_;  ///< by stream and symbol
    std::vector<std::vector<uint64_t>> places_;
  };
  /// What a row is along its members with one value of each stream.
  class RowAlong {
   public:
    RowAlong(Row row, const FieldsAlong &fields, const std::vector<AskedStream> &asked)
        : row_(std::move(row)), fields_(fields), asked_(asked) {
      value_.fields.resize(1);
    }
    /// From here on it has other values of the streams.
    void begin() {
      own_.clear();
      first_ = true;
      for (const AskedStream &stream : asked_) row_.fields[stream.field] = {};
    }
    void add(const FieldsAlong *value, const std::vector<uint64_t> &places) { own_.emplace_back(value, &places); }
    Row *of(uint64_t member, size_t m) {
      if (first_ || fields_.varies()) fields_.fill(member, first_, &row_);
      for (size_t i = 0; i < own_.size(); ++i) {
        const auto &[own, places] = own_[i];
        if (own != nullptr && (first_ || own->varies())) fill(*own, (*places)[m], asked_[i].field);
      }
      first_ = false;
      return &row_;
    }
    void fill(const FieldsAlong &value, uint64_t place, uint32_t field) {
      value.fill(place, true, &value_);
      row_.fields[field] = value_.fields[0];
    }
    /// See FieldsAlong::tell_apart.
    bool tell_apart(const std::vector<uint64_t> &members, std::vector<uint32_t> *numbers) const {
      bool told = fields_.tell_apart(members, numbers);
      for (const auto &[own, places] : own_) told = told && (own == nullptr || own->tell_apart(*places, numbers));
      return told;
    }

   private:
    Row row_;
    Row value_;
    const FieldsAlong &fields_;
    const std::vector<AskedStream> &asked_;
    std::vector<std::pair<const FieldsAlong *, const std::vector<uint64_t> *>> own_;  ///< by stream
    bool first_ = true;
  };

  /// A stream that is asked for as a sum is the last one of `asked`.
  void give(std::vector<Combination> combinations, const std::vector<AskedStream> &asked, const Members &members) {
    const bool sums = !alike_ && !asked.empty() && asked.back().asked == Asked::sum;
    const size_t told = asked.size() - (sums ? 1 : 0);  // streams that tell calls apart
    if (sums) {
      std::sort(combinations.begin(), combinations.end(), [](const Combination &a, const Combination &b) {
        return std::tie(a.row, a.values) < std::tie(b.row, b.values);
      });
    } else {
      std::stable_sort(combinations.begin(), combinations.end(),
                       [](const Combination &a, const Combination &b) { return a.row < b.row; });
    }
    // Only the last stream tells them apart.
    const auto same = [&](const Combination &a, const Combination &b) {
      return a.row == b.row && std::equal(a.values.begin(), a.values.end() - 1, b.values.begin(), b.values.end() - 1);
    };
    StreamValues values(asked, members);
    std::optional<FieldsAlong> along;
    std::optional<RowAlong> row;
    uint32_t of_row = UINT32_MAX;
    for (size_t begin = 0, end = 0; begin < combinations.size(); begin = end) {
      const Combination &each = combinations[begin];
      end = begin + 1;
      while (sums && end < combinations.size() && same(each, combinations[end])) {
        ++end;
      }
      if (of_row != each.row) {
        along.emplace(*part_.rows[each.row], asked_);
        row.emplace(empty(each.row), *along, asked);
      }
      of_row = each.row;
      row->begin();
      for (size_t i = 0; i < told; ++i) row->add(values.value(i, each.values[i]), values.places(i));
      if (sums) {
        give_sums(std::span(combinations).subspan(begin, end - begin), asked.back().field, members, &values, &*row);
        continue;
      }
      const bool share = alike_ && members.size() > 1;
      std::vector<uint32_t> numbers(share ? members.size() : 0);
      if (share && row->tell_apart(places_of(members), &numbers)) {
        give_alike(members, numbers, [&](size_t m, std::span<const uint32_t> ranks) {
          tell(each.row, row->of(members[m].second, m), each.count, ranks);
        });
        continue;
      }
      for (size_t m = 0; m < members.size(); ++m) {
        tell(each.row, row->of(members[m].second, m), each.count, {&members[m].first, 1});
      }
    }
  }

  /// Combinations that only the last stream, that of `field`, tells apart.
  void give_sums(std::span<const Combination> combinations, uint32_t field, const Members &members,
                 StreamValues *values, RowAlong *row) {
    std::vector<std::pair<const FieldsAlong *, uint64_t>> parts;  // and how often
    const size_t last = combinations.front().values.size() - 1;
    for (const Combination &each : combinations) {
      if (const FieldsAlong *value = values->value(last, each.values[last])) parts.emplace_back(value, each.count);
    }
    const uint32_t class_row = combinations.front().row;
    for (size_t m = 0; m < members.size(); ++m) {
      const uint64_t place = values->places(last)[m];
      Row *own = row->of(members[m].second, m);
      uint64_t count = 0;
      uint64_t sum = 0;
      for (const auto &[value, times] : parts) {
        if (const std::optional<uint64_t> number = value->number(place)) {
          count += times;
          add_to(&sum, saturating_product(*number, times));
          continue;
        }
        row->fill(*value, place, field);
        tell(class_row, own, times, {&members[m].first, 1});
        own->fields[field] = {};
      }
      if (count != 0) visit_({members[m].first, class_row, own, count, sum}, {&members[m].first, 1});
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
        Row row = call.row;
        tell(call.class_row, &row, call.count, {&rank, 1});
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
  /// With the field asked for as a sum, if there is one and it is a number, as one.
  void tell(uint32_t class_row, Row *row, uint64_t count, std::span<const uint32_t> ranks) {
    Field *summed = summed_ < row->fields.size() ? &row->fields[summed_] : nullptr;
    const std::optional<uint64_t> number = summed != nullptr ? number_of(*summed) : std::nullopt;
    if (!number) return visit_({ranks.front(), class_row, row, count, std::nullopt}, ranks);
    const Field kept = std::exchange(*summed, Field{});
    visit_({ranks.front(), class_row, row, count, saturating_product(*number, count)}, ranks);
    *summed = kept;
  }

  bool alike_;
  const Visit &visit_;
  Members members_;
  AskedFields asked_;
  size_t summed_ = 0;  ///< the field asked for as a sum; behind the last: none
};

}  // namespace

std::optional<uint64_t> number_of(const Field &field) {
  return field.is_bytes || field.atoms.size() != 1 ? std::nullopt : number_of(field.atoms[0]);
}

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
