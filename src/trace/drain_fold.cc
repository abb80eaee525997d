#include "trace/drain_fold.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "grammar/product.h"
#include "trace/request_arrays.h"
#include "trace/streams.h"

namespace cairn::trace {
namespace {

using grammar::Body;
using grammar::Grammar;
using grammar::Symbol;
using grammar::Term;

constexpr size_t kMostItems = 8192;  // of a drain: arrays of more requests are not recorded as such
constexpr uint64_t kMostCalls = uint64_t{1} << 62;

/// What a row is to drains.
struct Drainer {
  bool hit = false;        ///< it completes something; else it is a poll that found nothing
  bool continues = false;  ///< finds the array as the call before left it
  uint32_t chain = 0;      ///< rows of one drain have the same
};

/// Calls of one drain, in order.
struct Item {
  Symbol row;
  uint64_t count;
  auto operator<=>(const Item &) const = default;
};
using Word = std::vector<Item>;

/// What rows have in common that are of one drain.
Bytes chain_of(const Row &row, const Poll &poll, size_t requests) {
  Row inputs = row;
  inputs.fields.resize(poll.first_output);
  inputs.fields[requests] = {};
  ByteWriter out;
  pack_row(inputs, out);
  return out.take();
}

/// Whether a poll that found nothing says so and nothing else.
bool says_nothing(const Row &row, const Poll &poll) {
  for (size_t f = poll.first_output; f < row.fields.size(); ++f) {
    const bool zero = f == poll.answer || f + 1 == row.fields.size();
    if (row.fields[f].is_bytes || row.fields[f].atoms != std::vector<Atom>(zero ? 1 : 0, 0)) return false;
  }
  return true;
}

class Drainers {
 public:
  Drainers(const std::vector<Bytes> &packed, const std::vector<Poll> &polls)
      : of_(packed.size()), rows_(packed.size()) {
    std::map<Bytes, uint32_t> chains;
    for (Symbol i = 0; i < polls.size(); ++i) {
      const Poll &poll = polls[i];
      if (poll.first_output == 0) continue;
      ByteReader in(packed[i]);
      Result<Row> row = unpack_row(in);
      if (!row || row->fields.size() > Draining::kMostFields || poll.first_output >= row->fields.size()) continue;
      const std::optional<DrainedField> drained = DrainedField::of(*row);
      if (!drained || drained->requests >= poll.first_output || drained->indices < poll.first_output) continue;
      Drainer drainer;
      const std::vector<Atom> &indices = row->fields[drained->indices].atoms;
      drainer.hit = std::any_of(indices.begin(), indices.end(), [](Atom index) { return !is_special(index); });
      if (!drainer.hit && !(poll.kind == Poll::unsuccessful && says_nothing(*row, poll))) continue;
      if (drainer.hit && poll.answer != 0 && poll.kind != Poll::successful) continue;
      drainer.continues = drained->place == 0U;
      const Bytes chain = chain_of(*row, poll, drained->requests);
      drainer.chain = chains.try_emplace(chain, static_cast<uint32_t>(chains.size())).first->second;
      any_hit_ = any_hit_ || drainer.hit;
      of_[i] = drainer;
      rows_[i] = *std::move(row);
    }
  }
  [[nodiscard]] bool any() const { return any_hit_; }
  [[nodiscard]] const std::optional<Drainer> &operator[](Symbol row) const { return of_[row]; }
  [[nodiscard]] const Row &row(Symbol row) const { return rows_[row]; }

 private:
  std::vector<std::optional<Drainer>> of_;
  std::vector<Row> rows_;
  bool any_hit_ = false;
};

/// The calls of a rule: `first`, then what the rule of the same number in the new grammar says, then `last`; or `first`
/// alone, which may go on.
struct Stretch {
  Word first;
  Word last;
  bool alone = true;
};

/// The sequence over rows that do not drain, and words.
class Words {
 public:
  /// Words are numbered from `rows` on.
  Words(const Grammar &calls, const Drainers &drainers, size_t rows)
      : calls_(calls),
        drainers_(drainers),
        first_word_(static_cast<Symbol>(rows)),
        rules_(calls.rules().size()),
        stretches_(rules_.size()) {}

  /// False if a drain is too long.
  bool run() {
    for (size_t rule = rules_.size(); rule-- > 0 && good_;) stretch(static_cast<uint32_t>(rule));
    if (!good_) return false;
    for (Body &block : blocks_) rules_.push_back(std::move(block));
    // The whole sequence.
    Stretch &whole = stretches_[0];
    Body start;
    add(whole.first, &start);
    start.insert(start.end(), rules_[0].begin(), rules_[0].end());
    add(whole.last, &start);
    rules_[0] = std::move(start);
    return true;
  }
  std::vector<Body> &rules() { return rules_; }
  [[nodiscard]] const std::vector<const Word *> &words() const { return words_; }

 private:
  [[nodiscard]] bool goes_on(const Word &word, Symbol row) const {
    return !word.empty() && drainers_[row]->continues && drainers_[word.back().row]->chain == drainers_[row]->chain;
  }

  void append(Symbol row, uint64_t count, Word *word) {
    if (!word->empty() && word->back().row == row) {
      good_ = good_ && count <= kMostCalls && word->back().count <= kMostCalls - count;
      if (good_) word->back().count += count;
      return;
    }
    good_ = good_ && word->size() < kMostItems;
    if (good_) word->push_back({row, count});
  }

  /// The word that stands here, if any.
  void add(const Word &word, Body *body) {
    if (word.empty()) return;
    const auto [entry, fresh] = numbers_.try_emplace(word, static_cast<Symbol>(words_.size()));
    if (fresh) words_.push_back(&entry->first);
    body->push_back({first_word_ + entry->second, false, 1});
  }

  /// While a rule's terms are read.
  struct Reading {
    Stretch *result;
    Body *body;
    Word open;
  };

  /// What is open goes on no further.
  void close(Reading *at) {
    if (at->result->alone) {
      at->result->first = std::move(at->open);
      at->result->alone = false;
    } else {
      add(at->open, at->body);
    }
    at->open = {};
  }

  void call(Symbol row, uint64_t count, Reading *at) {
    if (!drainers_[row]) {
      close(at);
      at->body->push_back({row, false, count});
      return;
    }
    if (drainers_[row]->continues) {
      if (!at->open.empty() && !goes_on(at->open, row)) close(at);
      append(row, count, &at->open);
      return;
    }
    // Each begins anew.
    if (!at->open.empty()) close(at);
    at->open = {{row, 1}};
    for (uint64_t i = 1; i < std::min<uint64_t>(count, 3); ++i) {
      close(at);
      if (i == 2) at->body->back().count = count - 2;
      at->open = {{row, 1}};
    }
  }

  void word(const Word &word, Reading *at) {
    if (word.empty()) return;
    if (!at->open.empty() && !goes_on(at->open, word.front().row)) close(at);
    for (const Item &item : word) append(item.row, item.count, &at->open);
  }

  void rule_ref(uint32_t rule, Reading *at) {
    const Stretch &part = stretches_[rule];
    word(part.first, at);
    if (part.alone) return;
    close(at);
    if (!rules_[rule].empty()) at->body->push_back({rule, true, 1});
    at->open = part.last;
  }

  /// A rule that is nothing but calls of one drain, each of which goes on with what was before it.
  [[nodiscard]] bool circles(const Stretch &part) const {
    return part.alone && !part.first.empty() && goes_on(part.first, part.first.front().row);
  }

  void repeated(const Term &term, Reading *at) {
    const Stretch &part = stretches_[term.id];
    if (circles(part)) {
      Word all = part.first;
      const bool one = all.size() == 1;
      if (one) good_ = good_ && !__builtin_mul_overflow(all[0].count, term.count, &all[0].count);
      for (uint64_t i = 0; i < (one ? 1 : term.count) && good_; ++i) word(all, at);
      return;
    }
    uint64_t left = term.count;
    // From the second on each begins as the one before it ended; and until something is closed, what is open is the
    // beginning of the rule that is read.
    for (int i = 0; i < 2 && left > 0; ++i, --left) {
      if (i == 1 && !at->result->alone) break;
      rule_ref(term.id, at);
    }
    if (left == 0) return;
    Body again;
    Reading once{at->result, &again, std::move(at->open)};
    rule_ref(term.id, &once);
    at->open = std::move(once.open);
    at->body->push_back({static_cast<uint32_t>(rules_.size() + blocks_.size()), true, left});
    blocks_.push_back(std::move(again));
  }

  void stretch(uint32_t rule) {
    Reading at{&stretches_[rule], &rules_[rule], {}};
    for (const Term &term : calls_.rules()[rule]) {
      if (!good_) return;
      if (term.is_rule) {
        repeated(term, &at);
      } else {
        call(term.id, term.count, &at);
      }
    }
    (at.result->alone ? at.result->first : at.result->last) = std::move(at.open);
  }

  const Grammar &calls_;
  const Drainers &drainers_;
  Symbol first_word_;
  std::vector<Body> rules_;
  std::vector<Body> blocks_;
  std::vector<Stretch> stretches_;
  std::map<Word, Symbol> numbers_;
  std::vector<const Word *> words_;
  bool good_ = true;
};

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
  Body body_of(const Word &word) {
    Body body;
    auto end = word.end();
    while (end != word.begin() && !drainers_[std::prev(end)->row]->hit) --end;
    if (end != word.begin()) body.push_back({first_ + number({word.begin(), end}), false, 1});
    for (; end != word.end(); ++end) body.push_back({end->row, false, end->count});
    return body;
  }

  struct Drain {
    Word word;
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
    for (const Item &item : drain.word) {
      if (!drainers_[item.row]->hit) continue;
      body.push_back({values->number(drainers_.row(item.row).fields[field]), false, item.count});
    }
    return body;
  }
  Body misses_of(const Drain &drain, Values *values) const {
    Body body;
    uint64_t misses = 0;
    for (const Item &item : drain.word) {
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
  uint32_t number(Word word) {
    const auto [entry, fresh] = known_.try_emplace(word, static_cast<uint32_t>(all_.size()));
    if (!fresh) return entry->second;
    Drain drain;
    for (const Item &item : word) drain.calls += drainers_[item.row]->hit ? item.count : 0;
    drain.row = row_of(word);
    drain.word = std::move(word);
    all_.push_back(std::move(drain));
    return entry->second;
  }

  uint32_t row_of(const Word &word) {
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
    made->cycle = cycle_of({poll.first_output, poll.answer});
    rows_.push_back(std::move(made));
    return entry->second;
  }

  const Drainers &drainers_;
  const std::vector<Poll> &polls_;
  Symbol first_;
  std::map<Word, uint32_t> known_;
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
  const Draining draining = *draining_of(row);
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
  return std::tuple(a.function, a.site, a.depth, a.heads.size(), a.cycle) ==
         std::tuple(b.function, b.site, b.depth, b.heads.size(), b.cycle);
}

}  // namespace

void DrainFold::fold(std::vector<Bytes> *packed, std::vector<Poll> *polls, ClassPart *part) {
  const Drainers drainers(*packed, *polls);
  if (!drainers.any()) return;
  const auto rows = static_cast<Symbol>(packed->size());
  Words words(*part->calls, drainers, rows);
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
    for (const Item &item : drain.word) place[item.row].push_back(place_of_drains[drain.row]);
  }
  for (std::vector<uint32_t> &places : place) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
  }
  for (StatsBlock &block : part->stats) block.remap(place, kept.size());

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
  for (StatsBlock &block : part->stats) block.join_slots();
}

}  // namespace cairn::trace
