#include "trace/values/fold_column.h"

#include <algorithm>
#include <cassert>

#include "base/as_size.h"
#include "trace/values/atom_code.h"

namespace cairn::trace {
namespace {

constexpr size_t kLongestBody = 64;      // terms; longer repeats stay unfolded
constexpr size_t kMostBodies = 4096;     // in use; past that a column counts as irregular
constexpr size_t kIrregularTerms = 256;  // and a quarter of the values
constexpr uint64_t kCopiesTried = 6;

}  // namespace

FoldColumn FoldColumn::constant(Atom value, uint64_t count, Domain domain) {
  FoldColumn column(domain);
  if (count != 0) column.append(value, count);
  return column;
}

uint64_t FoldColumn::token_length(const Term &term) const {
  return term.kind == Term::loop ? bodies_[static_cast<size_t>(term.value)].length : 1;
}

uint64_t FoldColumn::token_sum(const Term &term) const {
  switch (term.kind) {
    case Term::symbol:
      return 0;
    case Term::loop:
      return bodies_[static_cast<size_t>(term.value)].sum;
    default:
      return static_cast<uint64_t>(term.value);
  }
}

Atom FoldColumn::value_of(const Term &symbol) const {
  return domain_ == Domain::symbols ? symbol.value : special(static_cast<uint16_t>(symbol.value));
}

/// The first that no body has, if it is new.
uint32_t FoldColumn::number_of(const Body &body) const {
  const auto known = std::find_if(bodies_.begin(), bodies_.end(), [&body](const Body &other) {
    return other.hash == body.hash && other.terms == body.terms;
  });
  return static_cast<uint32_t>(known - bodies_.begin());
}

uint32_t FoldColumn::intern(std::vector<Term> terms) {
  Body body;
  body.terms = std::move(terms);
  describe(&body);
  const uint32_t number = number_of(body);
  if (number == bodies_.size()) bodies_.push_back(std::move(body));
  return number;
}

void FoldColumn::append(Atom value, uint64_t count) {
  if (count == 0) return;
  index_.reset();
  if (lagged_) *this = unlagged();
  if (raw_) {
    for (uint64_t i = 0; i < count; ++i) append_raw(value);
    return;
  }
  push_value(value, count);
  give_up_if_irregular();
}

void FoldColumn::push_value(Atom value, uint64_t count) {
  length_ += count;
  if (domain_ == Domain::symbols) {
    push({Term::symbol, value, count}, true);
  } else if (is_special(value)) {
    push({Term::symbol, special_code(value), count}, true);
  } else {
    const auto now = static_cast<uint64_t>(value);
    if (has_first_) {
      push({Term::delta, static_cast<int64_t>(now - last_), 1}, true);
    } else {
      push({Term::first, value, 1}, true);
      has_first_ = true;
    }
    if (count > 1) push({Term::delta, 0, count - 1}, true);
    last_ = now;
  }
}

void FoldColumn::append(const FoldColumn &right) {
  if (right.length_ == 0) return;
  if (length_ == 0) {
    *this = right;
    return;
  }
  index_.reset();
  if ((lagged_ || right.lagged_) && append_lagged(right)) return;
  if (raw_ || right.raw_) {
    make_raw();
    raw_->values.reserve(as_size(raw_->values.size() + right.length_));
    Cursor cursor(right);
    for (uint64_t i = 0; i < right.length_; ++i) append_raw(cursor.next());
    return;
  }
  const std::vector<uint32_t> number = intern_bodies(right);
  if (right.terms_.size() >= terms_.size()) terms_.reserve(terms_.size() + right.terms_.size());
  for (Term term : right.terms_) {
    if (term.kind == Term::loop) term.value = number[static_cast<size_t>(term.value)];
    if (term.kind == Term::first) {
      const auto now = static_cast<uint64_t>(term.value);
      if (has_first_) {
        term = {Term::delta, static_cast<int64_t>(now - last_), 1};
      }
      has_first_ = true;
    }
    push(term, true);
  }
  length_ += right.length_;
  if (right.has_first_) last_ = right.last_;
  if (bodies_.size() > 64 + 2 * size_t{bodies_kept_}) drop_unused_bodies();
  lag_if_it_pays();
  give_up_if_irregular();
  assert(is_sound());
}

bool FoldColumn::is_sound() const {
  if (raw_ || lagged_) {
    return !(raw_ && lagged_) && terms_.empty() && bodies_.empty() &&
           (!lagged_ || (lagged_->lag < length_ && lagged_->differences.length_ == length_));
  }
  const auto lengths = [this](const std::vector<Term> &terms, size_t bodies) {
    std::optional<uint64_t> sum = 0;
    for (const Term &term : terms) {
      const bool known = term.kind != Term::loop || static_cast<uint64_t>(term.value) < bodies;
      if (!known || term.count == 0) return std::optional<uint64_t>();
      *sum += term.count * token_length(term);
    }
    return sum;
  };
  for (size_t i = 0; i < bodies_.size(); ++i) {
    if (bodies_[i].terms.empty() || lengths(bodies_[i].terms, i) != bodies_[i].length) return false;
  }
  return lengths(terms_, bodies_.size()) == length_;
}

/// Their numbers here.
std::vector<uint32_t> FoldColumn::intern_bodies(const FoldColumn &right) {
  std::vector<uint32_t> number(right.bodies_.size());
  for (size_t i = 0; i < right.bodies_.size(); ++i) {
    const Body &body = right.bodies_[i];
    const bool same_numbers = std::all_of(body.terms.begin(), body.terms.end(), [&number](const Term &term) {
      return term.kind != Term::loop || number[static_cast<size_t>(term.value)] == static_cast<uint64_t>(term.value);
    });
    if (same_numbers) {
      // Nearly always both sides have the same bodies: nothing is copied.
      number[i] = number_of(body);
      if (number[i] == bodies_.size()) bodies_.push_back(body);
      continue;
    }
    std::vector<Term> terms = body.terms;
    for (Term &term : terms) {
      if (term.kind == Term::loop) term.value = number[static_cast<size_t>(term.value)];
    }
    number[i] = intern(std::move(terms));
  }
  return number;
}

void FoldColumn::push(const Term &term, bool may_unroll) {
  if (!terms_.empty() && terms_.back().same_token(term)) {
    terms_.back().count += term.count;
    return;
  }
  fold_tail();
  if (term.kind == Term::loop) {
    if (!terms_.empty() && terms_.back().same_token(term)) {
      terms_.back().count += term.count;
      return;
    }
    if (may_unroll && unroll(term)) return;
  }
  terms_.push_back(term);
}

// Appends an incoming loop copy by copy. True if that folded it into what was there; otherwise nothing has changed.
bool FoldColumn::unroll(const Term &term) {
  if (terms_.empty()) return false;
  const std::vector<Term> snapshot = terms_;
  std::vector<Term> before;
  const std::vector<Term> body = bodies_[static_cast<size_t>(term.value)].terms;
  for (uint64_t copy = 1; copy <= std::min<uint64_t>(kCopiesTried, term.count); ++copy) {
    before = terms_;
    for (const Term &inner : body) push(inner, false);
    if (terms_.size() != before.size()) continue;
    // A copy that changed nothing but one loop's count: so will all that follow.
    size_t changed = terms_.size();
    bool steady = true;
    for (size_t i = 0; i < terms_.size() && steady; ++i) {
      if (terms_[i] == before[i]) continue;
      steady = changed == terms_.size() && terms_[i].kind == Term::loop && terms_[i].same_token(before[i]);
      changed = i;
    }
    if (!steady || changed == terms_.size()) continue;
    const auto left = static_cast<uint32_t>(term.count - copy);
    terms_[changed].count += (terms_[changed].count - before[changed].count) * left;
    return true;
  }
  if (term.count <= kCopiesTried && terms_.size() <= snapshot.size()) return true;
  terms_ = snapshot;
  return false;
}

// Folds the closed tail of terms_ as long as something folds.
void FoldColumn::fold_tail() {
  for (bool again = true; again;) {
    again = false;
    const size_t n = terms_.size();
    const size_t longest = n == 0 ? 0 : std::min(kLongestBody, n - 1);
    const Term last = n == 0 ? Term() : terms_[n - 1];
    for (size_t k = 1; k <= longest && !again; ++k) {
      // Irregular values come here at each, and mostly go no further.
      const Term &before = terms_[n - k - 1];
      if (before.kind != Term::loop && before.value != last.value) continue;
      // The tail is one more copy of the loop before it.
      if (before.kind == Term::loop) {
        const Body &body = bodies_[static_cast<size_t>(terms_[n - k - 1].value)];
        if (body.terms.size() == k && std::equal(body.terms.begin(), body.terms.end(), terms_.end() - k)) {
          terms_.resize(n - k);
          ++terms_.back().count;
          again = true;
          break;
        }
      }
      // The tail stands there twice.
      if (k < 2 || 2 * k > n || last != before) continue;
      if (!std::equal(terms_.end() - k, terms_.end(), terms_.end() - 2 * k)) continue;
      std::vector<Term> body(terms_.end() - k, terms_.end());
      terms_.resize(n - 2 * k);
      const Term loop = {Term::loop, intern(std::move(body)), 2};
      if (!terms_.empty() && terms_.back().same_token(loop)) {
        terms_.back().count += 2;
      } else {
        terms_.push_back(loop);
      }
      again = true;
    }
  }
}

// For each body whether a term refers to it, directly or through another body.
std::vector<uint32_t> FoldColumn::body_use() const {
  std::vector<uint32_t> used(bodies_.size(), 0);
  const auto mark = [&used](const std::vector<Term> &terms) {
    for (const Term &term : terms) {
      if (term.kind == Term::loop) used[static_cast<size_t>(term.value)] = 1;
    }
  };
  mark(terms_);
  for (size_t i = bodies_.size(); i-- > 0;) {
    if (used[i] != 0) mark(bodies_[i].terms);
  }
  return used;
}

void FoldColumn::drop_unused_bodies() {
  std::vector<uint32_t> number = body_use();
  std::vector<Body> kept;
  const auto renumber = [&number](std::vector<Term> *terms) {
    for (Term &term : *terms) {
      if (term.kind == Term::loop) term.value = number[static_cast<size_t>(term.value)];
    }
  };
  for (size_t i = 0; i < bodies_.size(); ++i) {
    if (number[i] == 0) continue;
    number[i] = static_cast<uint32_t>(kept.size());
    kept.push_back(std::move(bodies_[i]));
    renumber(&kept.back().terms);
  }
  renumber(&terms_);
  bodies_ = std::move(kept);
  for (size_t i = 0; i < bodies_.size(); ++i) describe(&bodies_[i]);  // the hash covers the numbers
  bodies_kept_ = static_cast<uint32_t>(bodies_.size());
}

size_t FoldColumn::terms() const {
  if (lagged_) return lagged_->differences.terms();
  size_t count = terms_.size();
  const std::vector<uint32_t> used = body_use();
  for (size_t i = 0; i < bodies_.size(); ++i) count += used[i] != 0 ? bodies_[i].terms.size() : 0;
  return count;
}

void FoldColumn::give_up_if_irregular() {
  if (raw_ || (terms_.size() <= kIrregularTerms && bodies_.size() <= kMostBodies)) return;
  if (terms_.size() * 4 > length_) {
    make_raw();
  } else if (bodies_.size() > kMostBodies) {
    drop_unused_bodies();
    if (bodies_.size() > kMostBodies) make_raw();
  }
}

void FoldColumn::make_raw() {
  if (raw_) return;
  FoldColumn raw(domain_);
  raw.raw_.emplace();
  Cursor cursor(*this);
  for (uint64_t i = 0; i < length_; ++i) raw.append_raw(cursor.next());
  *this = std::move(raw);
}

void FoldColumn::append_raw(Atom value) {
  if (length_ % Raw::kIndexEvery == 0 && length_ != 0)
    raw_->index.push_back(static_cast<uint32_t>(raw_->values.size()));
  uint8_t bytes[kMaxVarint];
  const uint64_t code = domain_ == Domain::symbols ? static_cast<uint64_t>(value) : atom_code(value);
  const uint8_t *end = put_varint(bytes, code);
  raw_->values.insert(raw_->values.end(), static_cast<const uint8_t *>(bytes), end);
  ++length_;
  if (domain_ == Domain::atoms && !is_special(value)) {
    has_first_ = true;
    last_ = static_cast<uint64_t>(value);
  }
}

void FoldColumn::rename(const std::vector<uint32_t> &to) {
  if (raw_) {
    FoldColumn renamed(domain_);
    renamed.raw_.emplace();
    Cursor cursor(*this);
    for (uint64_t i = 0; i < length_; ++i) renamed.append_raw(to[static_cast<size_t>(cursor.next())]);
    *this = std::move(renamed);
    return;
  }
  const auto rename_terms = [&to](std::vector<Term> *terms) {
    for (Term &term : *terms) {
      if (term.kind == Term::symbol) term.value = to[static_cast<size_t>(term.value)];
    }
  };
  drop_unused_bodies();
  rename_terms(&terms_);
  for (Body &body : bodies_) {
    rename_terms(&body.terms);
    describe(&body);
  }
}

bool FoldColumn::symbols_below(uint64_t count) const {
  if (domain_ != Domain::symbols) return false;
  if (raw_) {
    Cursor cursor(*this);
    for (uint64_t i = 0; i < length_; ++i) {
      if (static_cast<uint64_t>(cursor.next()) >= count) return false;
    }
    return true;
  }
  const auto below = [count](const std::vector<Term> &terms) {
    return std::all_of(terms.begin(), terms.end(), [count](const Term &term) {
      return term.kind == Term::loop || static_cast<uint64_t>(term.value) < count;
    });
  };
  return below(terms_) &&
         std::all_of(bodies_.begin(), bodies_.end(), [&below](const Body &body) { return below(body.terms); });
}

}  // namespace cairn::trace
