#include "trace/fold/drain_words.h"

#include <algorithm>
#include <utility>

#include "trace/model/class_row.h"
#include "trace/model/request_arrays.h"

namespace cairn::trace {

using grammar::Body;
using grammar::Grammar;
using grammar::Symbol;
using grammar::Term;

namespace {

constexpr size_t kMostItems = 8192;  // of a drain: arrays of more requests are not recorded as such
constexpr uint64_t kMostCalls = uint64_t{1} << 62;

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

}  // namespace

Drainers::Drainers(const std::vector<Bytes> &packed, const std::vector<Poll> &polls)
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

DrainWords::DrainWords(const Grammar &calls, const Drainers &drainers, size_t rows)
    : calls_(calls),
      drainers_(drainers),
      first_word_(static_cast<Symbol>(rows)),
      rules_(calls.rules().size()),
      stretches_(rules_.size()) {}

bool DrainWords::goes_on(const DrainWord &word, Symbol row) const {
  return !word.empty() && drainers_[row]->continues && drainers_[word.back().row]->chain == drainers_[row]->chain;
}

void DrainWords::append(Symbol row, uint64_t count, DrainWord *word) {
  if (!word->empty() && word->back().row == row) {
    good_ = good_ && count <= kMostCalls && word->back().count <= kMostCalls - count;
    if (good_) word->back().count += count;
    return;
  }
  good_ = good_ && word->size() < kMostItems;
  if (good_) word->push_back({row, count});
}

void DrainWords::add(const DrainWord &word, Body *body) {
  if (word.empty()) return;
  const auto [entry, fresh] = numbers_.try_emplace(word, static_cast<Symbol>(words_.size()));
  if (fresh) words_.push_back(&entry->first);
  body->push_back({first_word_ + entry->second, false, 1});
}

void DrainWords::close(Reading *at) {
  if (at->result->alone) {
    at->result->first = std::move(at->open);
    at->result->alone = false;
  } else {
    add(at->open, at->body);
  }
  at->open = {};
}

void DrainWords::call(Symbol row, uint64_t count, Reading *at) {
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

void DrainWords::word(const DrainWord &word, Reading *at) {
  if (word.empty()) return;
  if (!at->open.empty() && !goes_on(at->open, word.front().row)) close(at);
  for (const DrainItem &item : word) append(item.row, item.count, &at->open);
}

void DrainWords::rule_ref(uint32_t rule, Reading *at) {
  const Stretch &part = stretches_[rule];
  word(part.first, at);
  if (part.alone) return;
  close(at);
  if (!rules_[rule].empty()) at->body->push_back({rule, true, 1});
  at->open = part.last;
}

bool DrainWords::circles(const Stretch &part) const {
  return part.alone && !part.first.empty() && goes_on(part.first, part.first.front().row);
}

void DrainWords::repeated(const Term &term, Reading *at) {
  const Stretch &part = stretches_[term.id];
  if (circles(part)) {
    DrainWord all = part.first;
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

void DrainWords::stretch(uint32_t rule) {
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

bool DrainWords::run() {
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

}  // namespace cairn::trace
