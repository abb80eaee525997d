// What a fold column holds, read where it is or in order (fold_column.h).
#include <algorithm>

#include "base/as_size.h"
#include "trace/values/atom_code.h"
#include "trace/values/fold_column.h"

namespace cairn::trace {

Atom FoldColumn::at(uint64_t index) const {
  if (raw_) {
    ByteReader in(raw_->values);
    if (index >= Raw::kIndexEvery) in.raw(raw_->index[as_size(index / Raw::kIndexEvery - 1)]);
    for (uint64_t skip = index % Raw::kIndexEvery; skip > 0; --skip) in.varint();
    const uint64_t code = in.varint();
    return domain_ == Domain::symbols ? static_cast<Atom>(code) : atom_of_code(code);
  }
  if (lagged_) return at_lagged(index);
  uint64_t value = 0;
  const std::vector<Term> *terms = &terms_;
  const Boxed<Index> *indexed = &index_;
  while (true) {
    size_t t = 0;
    if (*indexed) {
      const std::vector<uint64_t> &starts = (*indexed)->starts;
      t = static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), index) - starts.begin()) - 1;
      index -= starts[t];
      value += (*indexed)->sums[t];
    } else {
      for (;; ++t) {
        const Term &term = (*terms)[t];
        const uint64_t length = token_length(term) * term.count;
        if (index < length) break;
        index -= length;
        value += token_sum(term) * term.count;
      }
    }
    const Term &term = (*terms)[t];
    if (term.kind == Term::symbol) return value_of(term);
    if (term.kind != Term::loop) return static_cast<Atom>(value + static_cast<uint64_t>(term.value) * (index + 1));
    const Body &body = bodies_[static_cast<size_t>(term.value)];
    value += body.sum * (index / body.length);
    index %= body.length;
    terms = &body.terms;
    indexed = &body.index;
  }
}

std::optional<std::vector<std::pair<Atom, uint64_t>>> FoldColumn::runs(size_t most) const {
  std::vector<std::pair<Atom, uint64_t>> runs;
  const auto add = [&runs](Atom value, uint64_t count) {
    if (runs.empty() || runs.back().first != value) {
      runs.emplace_back(value, count);
    } else {
      runs.back().second += count;
    }
  };
  const auto is_loop = [](const Term &term) { return term.kind == Term::loop; };
  if (raw_ || lagged_ || std::any_of(terms_.begin(), terms_.end(), is_loop)) {
    constexpr uint64_t kMostUnfolded = 64;  // values for each run: a loop repeats one, or it has many
    if (length_ > uint64_t{most} * kMostUnfolded) return std::nullopt;
    Cursor cursor(*this);
    for (uint64_t i = 0; i < length_ && runs.size() <= most; ++i) add(cursor.next(), 1);
  } else {
    uint64_t last = 0;
    for (const Term &term : terms_) {
      if (runs.size() > most) break;
      if (term.kind == Term::symbol) {
        add(value_of(term), term.count);
        continue;
      }
      const auto step = static_cast<uint64_t>(term.value);
      if (step == 0) {
        add(static_cast<Atom>(last), term.count);
        continue;
      }
      for (uint64_t i = 0; i < term.count && runs.size() <= most; ++i) add(static_cast<Atom>(last += step), 1);
    }
  }
  if (runs.size() > most) return std::nullopt;
  return runs;
}

FoldColumn::Cursor::Cursor(const FoldColumn &column)
    : column_(column.lagged_ ? column.lagged_->differences : column), before_(as_size(column.lag()), 0) {
  stack_.push_back({&column_.terms_});
}

Atom FoldColumn::Cursor::next() {
  const Atom value = next_folded();
  if (before_.empty()) return value;
  const uint64_t here = before_[oldest_] += static_cast<uint64_t>(value);
  if (++oldest_ == before_.size()) oldest_ = 0;
  return static_cast<Atom>(here);
}

Atom FoldColumn::Cursor::next_folded() {
  if (column_.raw_) {
    ByteReader in(ByteView(column_.raw_->values).subspan(raw_position_));
    const uint64_t code = in.varint();
    raw_position_ += in.position();
    return column_.domain_ == Domain::symbols ? static_cast<Atom>(code) : atom_of_code(code);
  }
  while (true) {
    Position &top = stack_.back();
    const auto &terms = *static_cast<const std::vector<Term> *>(top.terms);
    if (top.term == terms.size()) {
      stack_.pop_back();
      continue;
    }
    const Term &term = terms[top.term];
    if (top.done == term.count) {
      ++top.term;
      top.done = 0;
      continue;
    }
    ++top.done;
    if (term.kind == Term::symbol) return column_.value_of(term);
    if (term.kind != Term::loop) {
      last_ += static_cast<uint64_t>(term.value);
      return static_cast<Atom>(last_);
    }
    stack_.push_back({&column_.bodies_[static_cast<size_t>(term.value)].terms});
  }
}

std::vector<Atom> FoldColumn::expand() const {
  std::vector<Atom> values(as_size(length_));
  Cursor cursor(*this);
  for (Atom &value : values) value = cursor.next();
  return values;
}

std::optional<Atom> FoldColumn::constant_value() const {
  if (terms_.empty()) return std::nullopt;
  const Term &head = terms_[0];
  if (terms_.size() == 1 && head.kind == Term::symbol) return value_of(head);
  if (head.kind != Term::first) return std::nullopt;
  if (terms_.size() == 1 || (terms_.size() == 2 && terms_[1].kind == Term::delta && terms_[1].value == 0)) {
    return head.value;
  }
  return std::nullopt;
}

bool FoldColumn::same(const FoldColumn &other) const {
  return domain_ == other.domain_ && length_ == other.length_ && irregular() == other.irregular() &&
         (!raw_ || raw_->values == other.raw_->values) && terms_ == other.terms_ && bodies_ == other.bodies_ &&
         lag() == other.lag() && (!lagged_ || lagged_->differences.same(other.lagged_->differences));
}

bool FoldColumn::ascending_up_to(uint64_t limit) const {
  if (length_ == 0) return true;
  if (domain_ != Domain::atoms) return false;
  if (raw_ || lagged_) {
    Cursor cursor(*this);
    Atom previous = -1;
    for (uint64_t i = 0; i < length_; ++i) {
      const Atom value = cursor.next();
      if (value <= previous || static_cast<uint64_t>(value) > limit) return false;
      previous = value;
    }
    return true;
  }
  // Differences from 1 to `limit`, and no more of them than `limit` + 1: no sum wraps around.
  if (limit > UINT32_MAX || length_ > limit + 1) return false;
  const auto rises = [limit](const std::vector<Term> &terms) {
    return std::all_of(terms.begin(), terms.end(), [limit](const Term &term) {
      return term.kind == Term::loop || term.kind == Term::first ||
             (term.kind == Term::delta && term.value > 0 && static_cast<uint64_t>(term.value) <= limit);
    });
  };
  const std::vector<uint32_t> used = body_use();
  for (size_t i = 0; i < bodies_.size(); ++i) {
    if (used[i] != 0 && !rises(bodies_[i].terms)) return false;
  }
  const bool begins = terms_[0].kind == Term::first && terms_[0].value >= 0;
  return begins && static_cast<uint64_t>(terms_[0].value) <= limit && rises(terms_) && last_ <= limit;
}

}  // namespace cairn::trace
