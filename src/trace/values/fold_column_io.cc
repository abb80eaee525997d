// The bytes of a fold column (docs/format.md, "Columns"), and what is known of its terms beside them.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/as_size.h"
#include "base/hash.h"
#include "trace/values/atom_code.h"
#include "trace/values/column_head.h"
#include "trace/values/equal_columns.h"
#include "trace/values/fold_column.h"

namespace cairn::trace {
namespace {

// The low two bits of a term's first varint.
constexpr uint64_t kOne = 0;     // the rest: a difference, once
constexpr uint64_t kRun = 1;     // the rest: a count; then the difference
constexpr uint64_t kSymbol = 2;  // the rest: a symbol, and in its lowest bit whether a count follows
constexpr uint64_t kLoop = 3;    // the rest: a body; then a count
constexpr uint64_t kLargest = UINT64_MAX >> 3;

constexpr size_t kAround = 64;  // of memory, beside what a column is and its terms

constexpr size_t kIndexedTerms = 16;  // `at` goes through fewer as fast, and most columns are only merged on

}  // namespace

void FoldColumn::write_term(const Term &term, const std::vector<uint32_t> &numbers, ByteWriter &out) {
  const auto value = static_cast<uint64_t>(term.value);
  switch (term.kind) {
    case Term::first:
    case Term::delta:
      if (term.count == 1 && zigzag(term.value) <= kLargest) {
        out.varint(zigzag(term.value) << 2 | kOne);
      } else {
        out.varint(uint64_t{term.count} << 2 | kRun);
        out.signed_varint(term.value);
      }
      break;
    case Term::symbol:
      out.varint(value << 3 | (term.count > 1 ? 4U : 0U) | kSymbol);
      if (term.count > 1) out.varint(term.count);
      break;
    case Term::loop:
      out.varint(static_cast<uint64_t>(numbers[as_size(value)]) << 2 | kLoop);
      out.varint(term.count);
      break;
  }
}

void FoldColumn::write(ByteWriter &out) const {
  if (raw_) {
    out.varint(kPlainColumn);
    out.varint(length_);
    out.raw(raw_->values);
    return;
  }
  if (lagged_) {
    out.varint(kLaggedColumn);
    out.varint(lagged_->lag);
    lagged_->differences.write(out);
    return;
  }
  std::vector<uint32_t> numbers = body_use();
  uint32_t used = 0;
  for (size_t i = 0; i < bodies_.size(); ++i) used += numbers[i];
  out.varint(static_cast<uint64_t>(used) << 1);
  used = 0;
  for (size_t i = 0; i < bodies_.size(); ++i) {
    if (numbers[i] == 0) continue;
    numbers[i] = used++;
    out.varint(bodies_[i].terms.size());
    for (const Term &term : bodies_[i].terms) write_term(term, numbers, out);
  }
  out.varint(terms_.size());
  for (const Term &term : terms_) write_term(term, numbers, out);
}

void FoldColumn::write_smallest(ByteWriter &out) const {
  constexpr uint64_t kLongest = uint64_t{1} << 16;
  ByteWriter folded;
  write(folded);
  Bytes best = folded.take();
  // A value takes a byte at least.
  if (length_ <= kLongest && length_ != 0 && best.size() > length_ + 2) {
    if (!raw_) {
      FoldColumn plain = *this;
      plain.make_raw();
      ByteWriter raw;
      plain.write(raw);
      if (raw.size() < best.size()) best = raw.take();
    }
    std::optional<Bytes> equal = domain_ == Domain::atoms ? EqualColumns::alone(expand()) : std::nullopt;
    if (equal && equal->size() < best.size()) best = *std::move(equal);
  }
  out.raw(best);
}

bool FoldColumn::parse_terms(ByteReader &in, size_t bodies, bool top, uint64_t limit, std::vector<Term> *out) {
  const size_t count = in.count();
  uint64_t room = limit;
  if (!in.take(count, sizeof(Term) + 2 * sizeof(uint64_t))) return false;  // with the index
  out->reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t head = in.varint();
    Term term;
    term.value = static_cast<int64_t>(head >> 2);
    uint64_t times = 1;
    switch (head & 3) {
      case kOne:
        term.value = unzigzag(head >> 2);
        break;
      case kRun:
        times = head >> 2;
        term.value = in.signed_varint();
        break;
      case kSymbol:
        term = {Term::symbol, static_cast<int64_t>(head >> 3), 1};
        if ((head & 4) != 0) times = in.varint();
        if (static_cast<uint64_t>(term.value) > (domain_ == Domain::symbols ? UINT32_MAX : 4095U)) return false;
        break;
      default:
        term.kind = Term::loop;
        times = in.varint();
        // A loop runs at least twice, so depth is at most the logarithm of the length.
        if (static_cast<uint64_t>(term.value) >= bodies || times < 2) return false;
    }
    if (in.failed() || times == 0) return false;
    const bool moves =
        term.kind == Term::delta || (term.kind == Term::loop && bodies_[static_cast<size_t>(term.value)].moves);
    if (moves && domain_ == Domain::symbols) return false;
    if (moves && top && !has_first_) {
      // The first ordinary value stands alone at the top.
      if (term.kind == Term::loop || times != 1) return false;
      term.kind = Term::first;
      has_first_ = true;
    }
    const uint64_t each = token_length(term);
    if (times > room / each) return false;
    room -= times * each;
    term.count = static_cast<uint32_t>(times);
    out->push_back(term);
  }
  return !in.failed();
}

void FoldColumn::describe(Body *body) const {
  body->length = 0;
  body->sum = 0;
  body->moves = false;
  body->index.reset();
  uint64_t hash = body->terms.size();
  Index *index = body->terms.size() > kIndexedTerms ? &body->index.emplace() : nullptr;
  for (const Term &term : body->terms) {
    if (index != nullptr) index->add(body->length, body->sum);
    body->length += token_length(term) * term.count;
    body->sum += token_sum(term) * term.count;
    body->moves |=
        term.kind == Term::delta || (term.kind == Term::loop && bodies_[static_cast<size_t>(term.value)].moves);
    const uint64_t words[3] = {term.kind, static_cast<uint64_t>(term.value), uint64_t{term.count}};
    hash = hash64({reinterpret_cast<const uint8_t *>(words), sizeof words}, hash);
  }
  body->hash = hash;
}

void FoldColumn::index_terms() {
  index_.reset();
  Index *index = terms_.size() > kIndexedTerms ? &index_.emplace() : nullptr;
  length_ = 0;
  last_ = 0;
  for (const Term &term : terms_) {
    if (index != nullptr) index->add(length_, last_);
    length_ += token_length(term) * term.count;
    last_ += token_sum(term) * term.count;
  }
}

size_t FoldColumn::bytes() const {
  size_t bytes = sizeof *this + kAround + terms_.size() * (sizeof(Term) + 2 * sizeof(uint64_t));
  for (const Body &body : bodies_) {
    bytes += sizeof body + kAround + body.terms.size() * (sizeof(Term) + 2 * sizeof(uint64_t));
  }
  if (raw_) bytes += sizeof *raw_ + 2 * raw_->values.size() + sizeof(uint32_t) * raw_->index.size();
  if (lagged_) bytes += lagged_->differences.bytes();
  return bytes;
}

FoldColumn FoldColumn::irregular_of(const std::vector<Atom> &values) {
  FoldColumn column;
  column.raw_.emplace();
  for (const Atom value : values) column.append_raw(value);
  return column;
}

FoldColumn FoldColumn::parse(ByteReader &in, Domain domain, uint64_t limit) {
  FoldColumn column(domain);
  const uint64_t head = in.varint();
  if (!in.take(kAround)) return column;
  if (head == kLaggedColumn && domain == Domain::atoms) return parse_lagged(in, limit);
  if (head == kEqualColumns && domain == Domain::atoms) {
    std::vector<FoldColumn> alone = EqualColumns::parse(in, 1, limit);
    return in.failed() ? column : std::move(alone.front());
  }
  if ((head & 1) != 0) {
    column.raw_.emplace();
    const size_t count = in.count();
    if (head != kPlainColumn || count > limit || count == 0 || !in.take(sizeof(Raw)) || !in.take(2 * count)) in.fail();
    for (size_t i = 0; i < count && !in.failed(); ++i) {
      const uint64_t code = in.varint();
      if (domain == Domain::symbols && code > UINT32_MAX) in.fail();
      if ((code >> 14) != 0) in.take(2 * kMaxVarint);
      column.append_raw(domain == Domain::symbols ? static_cast<Atom>(code) : atom_of_code(code));
    }
    return in.failed() ? FoldColumn(domain) : column;
  }
  return parse_folded(in, domain, head, limit);
}

FoldColumn FoldColumn::parse_folded(ByteReader &in, Domain domain, uint64_t head, uint64_t limit) {
  FoldColumn column(domain);
  const uint64_t bodies = head >> 1;
  bool good = !in.failed() && bodies <= in.remaining() / 2 && in.take(bodies, 2 * sizeof(Body) + kAround);
  for (uint64_t i = 0; i < bodies && good; ++i) {
    Body body;
    good = column.parse_terms(in, column.bodies_.size(), false, limit, &body.terms) && !body.terms.empty();
    if (!good) break;
    column.describe(&body);
    column.bodies_.push_back(std::move(body));
  }
  good = good && column.parse_terms(in, column.bodies_.size(), true, limit, &column.terms_);
  if (!good) {
    in.fail();
    return FoldColumn(domain);
  }
  column.bodies_kept_ = static_cast<uint32_t>(column.bodies_.size());
  column.index_terms();
  return column;
}

FoldColumn FoldColumn::parse_lagged(ByteReader &in, uint64_t limit) {
  FoldColumn column;
  if (!in.take(sizeof(Lagged))) return column;
  Lagged &lagged = column.lagged_.emplace();
  lagged.lag = in.varint();
  const uint64_t head = in.varint();
  if ((head & 1) == 0) lagged.differences = parse_folded(in, Domain::atoms, head, limit);
  column.length_ = lagged.differences.size();
  if (in.failed() || (head & 1) != 0 || lagged.lag == 0 || lagged.lag >= column.length_ || lagged.lag > kLongestLag ||
      column.length_ / lagged.lag > kMostLags || lagged.differences.has_specials()) {
    in.fail();
    return FoldColumn();
  }
  return column;
}

}  // namespace cairn::trace
