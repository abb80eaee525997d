#include "trace/model/poll_word.h"

#include <algorithm>
#include <limits>

#include "base/as_size.h"

namespace cairn::trace {
namespace {

constexpr uint64_t kMostCount = uint64_t{1} << 62;

/// The one term whose count is all that differs between two states of a word, or the number of terms.
size_t grown_term(const std::vector<PollWord::Term> &before, const std::vector<PollWord::Term> &after) {
  size_t grown = after.size();
  if (before.size() != after.size()) return grown;
  for (size_t i = 0; i < after.size(); ++i) {
    if (before[i] == after[i]) continue;
    if (grown != after.size() || before[i].rows != after[i].rows || before[i].count >= after[i].count) {
      return after.size();
    }
    grown = i;
  }
  return grown;
}

}  // namespace

bool PollWord::one(uint32_t row) {
  if (!terms_.empty() && terms_.back().rows.size() == 1 && terms_.back().rows[0] == row) {
    if (terms_.back().count >= kMostCount) return false;
    ++terms_.back().count;
  } else {
    if (terms_.size() >= kMostTerms) return false;
    terms_.push_back({{row}, 1});
  }
  close_cycle();
  return true;
}

void PollWord::close_cycle() {
  // The single rows at the end, as far as they matter.
  size_t begin = terms_.size();
  while (begin > 0 && terms_[begin - 1].rows.size() == 1 && terms_.size() - begin < 2 * kLongestCycle) --begin;
  const auto expanded = [&](size_t from) {
    std::vector<uint32_t> rows;
    for (size_t i = from; i < terms_.size(); ++i) rows.insert(rows.end(), as_size(terms_[i].count), terms_[i].rows[0]);
    return rows;
  };
  // Are they once more the cycle before them?
  uint64_t calls = 0;
  for (size_t i = begin; i < terms_.size() && calls <= kLongestCycle; ++i) calls += terms_[i].count;
  if (begin > 0 && calls == terms_[begin - 1].rows.size() && terms_[begin - 1].count < kMostCount &&
      expanded(begin) == terms_[begin - 1].rows) {
    ++terms_[begin - 1].count;
    terms_.resize(begin);
    return;
  }
  // Or twice the same?
  calls = 0;
  for (size_t n = 1; 2 * n <= terms_.size() - begin; ++n) {
    const auto second = terms_.end() - static_cast<std::ptrdiff_t>(n);
    if (second->count > kLongestCycle) return;
    calls += second->count;
    if (calls > kLongestCycle) return;
    if (n < 2 || !std::equal(second, terms_.end(), second - static_cast<std::ptrdiff_t>(n))) continue;
    Term cycle{expanded(terms_.size() - n), 2};
    terms_.resize(terms_.size() - 2 * n);
    terms_.push_back(std::move(cycle));
    return;
  }
}

bool PollWord::append(uint32_t row, uint64_t count) {
  // Further ones than a cycle can have only make the last term longer.
  const uint64_t singly = std::min<uint64_t>(count, kLongestCycle + 2);
  for (uint64_t i = 0; i < singly; ++i) {
    if (!one(row)) return false;
  }
  if (count == singly) return true;
  if (count > kMostCount || terms_.back().count > kMostCount - count) return false;
  terms_.back().count += count - singly;
  return true;
}

bool PollWord::all(const std::vector<Term> &terms) {
  for (const Term &term : terms) {
    if (term.rows.size() == 1) {
      if (!append(term.rows[0], term.count)) return false;
      continue;
    }
    PollWord cycle;
    for (const uint32_t row : term.rows) cycle.terms_.push_back({{row}, 1});
    if (!append(cycle, term.count)) return false;
  }
  return true;
}

bool PollWord::append(const PollWord &other, uint64_t count) {
  if (other.terms_.empty() || count == 0) return true;
  if (other.terms_.size() == 1 && other.terms_[0].rows.size() == 1) {
    uint64_t calls = 0;
    return !__builtin_mul_overflow(other.terms_[0].count, count, &calls) && append(other.terms_[0].rows[0], calls);
  }
  constexpr uint64_t kTries = 64;
  std::vector<Term> before;
  for (uint64_t done = 0; done < count; ++done) {
    before = terms_;
    if (!all(other.terms_)) return false;
    if (done == 0 || count - done <= 2) continue;
    // From one copy to the next only one count grows: so it will for all further ones.
    const size_t term = grown_term(before, terms_);
    if (term < terms_.size()) {
      const uint64_t step = terms_[term].count - before[term].count;
      std::vector<Term> once = terms_;
      if (!all(other.terms_)) return false;
      ++done;
      if (grown_term(once, terms_) != term || terms_[term].count - once[term].count != step) continue;
      uint64_t more = 0;
      if (__builtin_mul_overflow(step, count - done - 1, &more) || more > kMostCount - terms_[term].count) return false;
      terms_[term].count += more;
      return true;
    }
    if (done > kTries && terms_.size() >= kMostTerms / 2) return false;
  }
  return true;
}

}  // namespace cairn::trace
