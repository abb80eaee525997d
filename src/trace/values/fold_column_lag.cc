// Fold columns whose values come again at a distance but for a shift (fold_column.h).
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/as_size.h"
#include "trace/values/fold_column.h"

namespace cairn::trace {
namespace {

constexpr size_t kTermsToLag = 64;                     // fewer are no burden
constexpr uint64_t kValuesATerm = 5;                   // with fewer, values have no rule to be found in lags
constexpr uint64_t kLongestToLag = uint64_t{1} << 15;  // values; what is lagged stays so when it grows longer
constexpr size_t kBreaksCompared = 24;                 // with each: more than a row has

}  // namespace

bool FoldColumn::has_specials() const {
  const auto special = [](const std::vector<Term> &terms) {
    return std::any_of(terms.begin(), terms.end(), [](const Term &term) { return term.kind == Term::symbol; });
  };
  return special(terms_) ||
         std::any_of(bodies_.begin(), bodies_.end(), [&special](const Body &body) { return special(body.terms); });
}

Atom FoldColumn::at_lagged(uint64_t index) const {
  uint64_t value = 0;
  for (uint64_t place = index % lagged_->lag; place <= index; place += lagged_->lag) {
    value += static_cast<uint64_t>(lagged_->differences.at(place));
  }
  return static_cast<Atom>(value);
}

// The distance at which most of the places where values leave their usual difference come again. 0: there is none.
uint64_t FoldColumn::likely_lag() const {
  std::vector<uint64_t> differences;
  differences.reserve(as_size(length_));
  Cursor cursor(*this);
  auto last = static_cast<uint64_t>(cursor.next());
  uint64_t usual = 0;
  uint64_t votes = 0;
  for (uint64_t i = 1; i < length_; ++i) {
    const auto value = static_cast<uint64_t>(cursor.next());
    const uint64_t difference = value - last;
    differences.push_back(difference);
    if (votes == 0) usual = difference;
    votes += difference == usual ? 1 : ~uint64_t{0};
    last = value;
  }
  std::vector<size_t> breaks;
  for (size_t i = 0; i < differences.size(); ++i) {
    if (differences[i] != usual) breaks.push_back(i);
  }
  if (breaks.size() * 2 > differences.size()) return 0;
  std::unordered_map<size_t, size_t> times;
  for (size_t i = 0; i < breaks.size(); ++i) {
    const size_t end = std::min(breaks.size(), i + 1 + kBreaksCompared);
    for (size_t k = i + 1; k < end; ++k) {
      if (differences[breaks[i]] == differences[breaks[k]]) ++times[breaks[k] - breaks[i]];
    }
  }
  std::pair<size_t, size_t> best;  // how often, at which distance
  for (const auto &[distance, count] : times) {
    if (count > best.first || (count == best.first && distance < best.second)) best = {count, distance};
  }
  return best.first * 4 < breaks.size() ? 0 : best.second;
}

void FoldColumn::lag_if_it_pays() {
  if (terms_.size() < kTermsToLag || terms_.size() * kValuesATerm > length_ || length_ > kLongestToLag) return;
  if (domain_ != Domain::atoms || has_specials()) return;
  const uint64_t lag = likely_lag();
  if (lag == 0 || 2 * lag > length_ || length_ / lag > kMostLags) return;
  const size_t allowed = terms() / 2;
  Lagged lagged;
  lagged.lag = lag;
  std::vector<uint64_t> before(as_size(lag), 0);
  size_t oldest = 0;
  Cursor cursor(*this);
  for (uint64_t i = 0; i < length_; ++i) {
    const auto value = static_cast<uint64_t>(cursor.next());
    const auto difference = static_cast<Atom>(value - before[oldest]);
    if (is_special(difference) || lagged.differences.terms_.size() > allowed) return;
    lagged.differences.push_value(difference, 1);
    before[oldest] = value;
    if (++oldest == lag) oldest = 0;
  }
  lagged.differences.drop_unused_bodies();
  if (lagged.differences.terms() > allowed) return;
  FoldColumn column;
  column.length_ = length_;
  column.lagged_.emplace() = std::move(lagged);
  *this = std::move(column);
}

FoldColumn FoldColumn::unlagged() const {
  FoldColumn plain(domain_);
  Cursor cursor(*this);
  for (uint64_t i = 0; i < length_; ++i) plain.push_value(cursor.next(), 1);
  plain.drop_unused_bodies();
  plain.give_up_if_irregular();
  return plain;
}

// One of both is lagged. False: neither is any more, and `right` is still to be appended.
bool FoldColumn::append_lagged(const FoldColumn &right) {
  if (!lagged_) {
    append(right.unlagged());
    return true;
  }
  const auto unlag_both = [&] {
    *this = unlagged();
    return right.lagged_ && append_lagged(right);
  };
  // Nobody reads a column that is too long for its lag.
  if ((length_ + right.length_) / lagged_->lag > kMostLags || right.raw_ || right.has_specials()) {
    return unlag_both();
  }
  const uint64_t lag = lagged_->lag;
  std::vector<uint64_t> before(as_size(lag), 0);
  Cursor own(*this);
  for (uint64_t i = 0; i < length_; ++i) before[as_size(i % lag)] = static_cast<uint64_t>(own.next());
  // Where the other side has the same lag, it says itself what comes after the first `lag` of its values.
  const bool same = right.lag() == lag;
  const uint64_t begin = same ? lag : right.length_;
  std::vector<Atom> differences;
  Cursor cursor(right);
  for (uint64_t i = 0; i < begin; ++i) {
    const auto value = static_cast<uint64_t>(cursor.next());
    uint64_t &earlier = before[as_size((length_ + i) % lag)];
    differences.push_back(static_cast<Atom>(value - earlier));
    earlier = value;
  }
  if (std::any_of(differences.begin(), differences.end(), is_special)) return unlag_both();
  FoldColumn &values = lagged_->differences;
  values.index_.reset();
  for (const Atom difference : differences) values.push_value(difference, 1);
  if (same) values.append_all_but(lag, right.lagged_->differences);
  length_ += right.length_;
  if (values.bodies_.size() > 64 + 2 * size_t{values.bodies_kept_}) values.drop_unused_bodies();
  if (values.terms_.size() > kTermsToLag && values.terms_.size() * kValuesATerm > length_) *this = unlagged();
  return true;
}

// Appends what follows the first `skip` values of `right`, ordinary ones.
void FoldColumn::append_all_but(uint64_t skip, const FoldColumn &right) {
  push_value(right.at(skip), 1);
  ++skip;
  length_ += right.length_ - skip;
  last_ = right.last_;
  push_all_but(&skip, right, right.terms_, intern_bodies(right));
}

void FoldColumn::push_all_but(uint64_t *skip, const FoldColumn &right, const std::vector<Term> &terms,
                              const std::vector<uint32_t> &number) {
  for (Term term : terms) {
    const uint64_t each = right.token_length(term);
    const uint64_t copies = std::min<uint64_t>(*skip / each, term.count);
    *skip -= copies * each;
    term.count -= static_cast<uint32_t>(copies);
    if (term.count == 0) continue;
    if (term.kind == Term::loop) {
      const std::vector<Term> &body = right.bodies_[static_cast<size_t>(term.value)].terms;
      // A loop runs at least twice: a copy that is begun, or the only one left, stands by itself.
      for (; term.count != 0 && (*skip != 0 || term.count == 1); --term.count) {
        push_all_but(skip, right, body, number);
      }
      term.value = number[static_cast<size_t>(term.value)];
    }
    if (term.count != 0) push(term, true);
  }
}

}  // namespace cairn::trace
