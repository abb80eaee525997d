#include "trace/fold/drain_fold.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "grammar/product.h"
#include "trace/fold/drain_words.h"
#include "trace/fold/streams.h"
#include "trace/model/request_arrays.h"

namespace cairn::trace {
namespace {

using grammar::Body;
using grammar::Grammar;
using grammar::Symbol;
using grammar::Term;

/// Numbers fields that are values of a stream.
class Values {
 public:
  Symbol number(const Field &field) {
    ByteWriter out;
    pack_field(field, out);
    const auto [entry, fresh] = known_.try_emplace(out.take(), static_cast<Symbol>(rows_.size()));
    if (fresh) {
      Row row;
      row.fields.push_back(field);
      rows_.push_back(std::make_shared<const ClassRow>(ClassRow::of(row)));
    }
    return entry->second;
  }
  Symbol number(uint64_t count) {
    Field field;
    field.atoms = {static_cast<Atom>(count)};
    return number(field);
  }
  [[nodiscard]] const std::vector<RowPointer> &rows() const { return rows_; }

 private:
  std::map<Bytes, Symbol> known_;
  std::vector<RowPointer> rows_;
};

/// The drains of a class, one symbol each.
class Drains {
 public:
  Drains(const Drainers &drainers, const std::vector<Poll> &polls, Symbol first)
      : drainers_(drainers), polls_(polls), first_(first) {}

  /// What a word stands for: a drain up to the last call that completes something, then polls.
  Body body_of(const DrainWord &word) {
    Body body;
    auto end = word.end();
    while (end != word.begin() && !drainers_[std::prev(end)->row]->hit) --end;
    if (end != word.begin()) body.push_back({first_ + number({word.begin(), end}), false, 1});
    for (; end != word.end(); ++end) body.push_back({end->row, false, end->count});
    return body;
  }

  struct Drain {
    DrainWord word;
    uint32_t row = 0;    ///< in `rows`
    uint64_t calls = 0;  ///< without polls that found nothing
  };
  [[nodiscard]] const std::vector<Drain> &all() const { return all_; }
  [[nodiscard]] const std::vector<RowPointer> &rows() const { return rows_; }
  [[nodiscard]] bool is(Symbol symbol) const { return symbol >= first_; }
  [[nodiscard]] const Drain &operator[](Symbol symbol) const { return all_[symbol - first_]; }

  /// The values of a field of the calls of a drain; `misses`: how often it found nothing before each of them.
  Body values_of(const Drain &drain, size_t field, Values *values) const {
    Body body;
    for (const DrainItem &item : drain.word) {
      if (!drainers_[item.row]->hit) continue;
      body.push_back({values->number(drainers_.row(item.row).fields[field]), false, item.count});
    }
    return body;
  }
  Body misses_of(const Drain &drain, Values *values) const {
    Body body;
    uint64_t misses = 0;
    for (const DrainItem &item : drain.word) {
      if (!drainers_[item.row]->hit) {
        misses += item.count;
        continue;
      }
      body.push_back({values->number(misses), false, 1});
      if (item.count > 1) body.push_back({values->number(uint64_t{0}), false, item.count - 1});
      misses = 0;
    }
    return body;
  }

 private:
  uint32_t number(DrainWord word) {
    const auto [entry, fresh] = known_.try_emplace(word, static_cast<uint32_t>(all_.size()));
    if (!fresh) return entry->second;
    Drain drain;
    for (const DrainItem &item : word) drain.calls += drainers_[item.row]->hit ? item.count : 0;
    drain.row = row_of(word);
    drain.word = std::move(word);
    all_.push_back(std::move(drain));
    return entry->second;
  }

  uint32_t row_of(const DrainWord &word) {
    const Symbol hit = word.back().row;
    const Poll &poll = polls_[hit];
    Row row = drainers_.row(hit);
    const size_t requests = DrainedField::of(row)->requests;
    row.fields[requests] = drainers_.row(word.front().row).fields[requests];
    for (size_t f = poll.first_output; f < row.fields.size(); ++f) row.fields[f] = {};
    ByteWriter out;
    pack_row(row, out);
    const auto [entry, fresh] = row_numbers_.try_emplace(out.take(), static_cast<uint32_t>(rows_.size()));
    if (!fresh) return entry->second;
    auto made = std::make_shared<ClassRow>(ClassRow::of(row));
    made->heads.resize(poll.first_output);
    made->heads.resize(row.fields.size() + (poll.answer != 0 ? 2 : 1), {FieldHead::moved, 0});
    made->kind = Draining{poll.first_output, poll.answer};
    rows_.push_back(std::move(made));
    return entry->second;
  }

  const Drainers &drainers_;
  const std::vector<Poll> &polls_;
  Symbol first_;
  std::map<DrainWord, uint32_t> known_;
  std::vector<Drain> all_;
  std::map<Bytes, uint32_t> row_numbers_;
  std::vector<RowPointer> rows_;
};

/// `sequence` with what `body_of` gives in place of each symbol.
template <typename BodyOf>
Grammar replaced(const Grammar &sequence, BodyOf body_of) {
  std::vector<Body> rules = sequence.rules();
  std::map<Symbol, uint32_t> rule_of;
  const size_t old = rules.size();
  for (size_t rule = 0; rule < old; ++rule) {
    for (Term &term : rules[rule]) {
      if (term.is_rule) continue;
      const auto next = static_cast<uint32_t>(old + rule_of.size());
      term = {rule_of.try_emplace(term.id, next).first->second, true, term.count};
    }
  }
  rules.resize(old + rule_of.size());
  for (const auto &[symbol, rule] : rule_of) rules[rule] = body_of(symbol);
  Result<Grammar> result = Grammar::from_rules(std::move(rules));
  return result ? *std::move(result) : Grammar();
}

Stream stream_of(const RankSet &ranks, uint32_t field, const Grammar &order, const Values &values, bool by_call) {
  StreamVariant variant;
  variant.ranks = ranks;
  if (by_call && values.rows().size() == 1) {
    variant.order = std::make_shared<const Grammar>(Grammar::from_symbols({0}));
    variant.values = values.rows();
  } else {
    std::vector<Symbol> old;
    variant.order = std::make_shared<const Grammar>(renumbered(reparsed(order, worth_parsing(order)), &old));
    for (const Symbol symbol : old) variant.values.push_back(values.rows()[symbol]);
  }
  variant.set_key();
  Stream stream{0, field, {}};
  stream.variants.push_back(std::move(variant));
  return stream;
}

/// All streams of the drains whose rows are among `rows`, which are one group.
std::vector<Stream> streams_of_group(const Grammar &sequence, const Drains &drains, const std::vector<bool> &rows,
                                     const RankSet &ranks) {
  const ClassRow &row = *drains.rows()[static_cast<size_t>(std::find(rows.begin(), rows.end(), true) - rows.begin())];
  const auto draining = std::get<Draining>(row.kind);
  const Grammar own = sequence.projected([&](Symbol symbol) { return drains.is(symbol) && rows[drains[symbol].row]; });
  std::vector<Stream> streams;
  const auto fields = static_cast<uint32_t>(call_fields(row));
  for (uint32_t field = draining.first_output; field < fields; ++field) {
    Values values;
    const Grammar order =
        replaced(own, [&](Symbol symbol) { return drains.values_of(drains[symbol], field, &values); });
    streams.push_back(stream_of(ranks, field, order, values, true));
  }
  if (draining.polls()) {
    Values values;
    const Grammar order = replaced(own, [&](Symbol symbol) { return drains.misses_of(drains[symbol], &values); });
    streams.push_back(stream_of(ranks, fields, order, values, true));
  }
  Values values;
  const Grammar order = own.mapped([&](Symbol symbol) { return values.number(drains[symbol].calls); });
  streams.push_back(stream_of(ranks, static_cast<uint32_t>(row.heads.size() - 1), order, values, false));
  return streams;
}

/// As RowGroups tells them apart.
bool same_group(const ClassRow &a, const ClassRow &b) {
  return std::tuple(a.function, a.site, a.depth, a.heads.size(), a.kind) ==
         std::tuple(b.function, b.site, b.depth, b.heads.size(), b.kind);
}

}  // namespace

void DrainFold::fold(std::vector<Bytes> *packed, std::vector<Poll> *polls, ClassPart *part) {
  const Drainers drainers(*packed, *polls);
  if (!drainers.any()) return;
  const auto rows = static_cast<Symbol>(packed->size());
  DrainWords words(*part->calls, drainers, rows);
  if (!words.run()) return;
  Drains drains(drainers, *polls, rows);
  const Result<Grammar> with_words = Grammar::from_rules(words.rules());
  if (!with_words) return;
  const Grammar sequence = replaced(*with_words, [&](Symbol symbol) {
    return symbol < rows ? Body{{symbol, false, 1}} : drains.body_of(*words.words()[symbol - rows]);
  });

  // Rows in order of first occurrence, without those that no longer occur.
  std::vector<Symbol> old;
  part->calls = std::make_shared<const Grammar>(renumbered(
      sequence.mapped([&](Symbol symbol) { return drains.is(symbol) ? rows + drains[symbol].row : symbol; }), &old));
  std::vector<std::vector<uint32_t>> place(rows);
  std::vector<uint32_t> place_of_drains(drains.rows().size());
  std::vector<RowPointer> kept;
  std::vector<Bytes> kept_packed;
  std::vector<Poll> kept_polls;
  for (const Symbol symbol : old) {
    const auto number = static_cast<uint32_t>(kept.size());
    if (symbol < rows) place[symbol].push_back(number);
    if (symbol >= rows) place_of_drains[symbol - rows] = number;
    kept.push_back(symbol < rows ? part->rows[symbol] : drains.rows()[symbol - rows]);
    kept_packed.push_back(symbol < rows ? std::move((*packed)[symbol]) : Bytes());
    kept_polls.push_back(symbol < rows ? std::move((*polls)[symbol]) : Poll());
  }
  for (const Drains::Drain &drain : drains.all()) {
    for (const DrainItem &item : drain.word) place[item.row].push_back(place_of_drains[drain.row]);
  }
  for (std::vector<uint32_t> &places : place) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
  }
  const SlotRows rows_of_old = SlotRows::of(place);
  for (StatsBlock &block : part->stats) block.remap(rows_of_old, kept.size());

  std::vector<bool> done(drains.rows().size());
  for (size_t first = 0; first < done.size(); ++first) {
    if (done[first]) continue;
    std::vector<bool> group(done.size());
    for (size_t i = first; i < done.size(); ++i) {
      if (same_group(*drains.rows()[first], *drains.rows()[i])) group[i] = done[i] = true;
    }
    groups_.push_back({drains.rows()[first], streams_of_group(sequence, drains, group, part->ranks)});
  }
  part->rows = std::move(kept);
  *packed = std::move(kept_packed);
  *polls = std::move(kept_polls);
}

void DrainFold::add_streams(ClassPart *part) {
  if (groups_.empty()) return;
  const RowGroups groups(part->rows);
  for (OfGroup &each : groups_) {
    for (uint32_t group = 0; group < groups.count(); ++group) {
      if (!same_group(*part->rows[groups.first_row[group]], *each.row)) continue;
      for (Stream &stream : each.streams) {
        stream.group = group;
        part->streams.push_back(std::move(stream));
      }
    }
  }
  std::sort(part->streams.begin(), part->streams.end(),
            [](const Stream &a, const Stream &b) { return std::pair(a.group, a.field) < std::pair(b.group, b.field); });
  for (StatsBlock &block : part->stats) block.join_slots(part->rows.size());
}

}  // namespace cairn::trace
