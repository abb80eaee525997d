#include "proxy/law.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "spec/spec.h"

namespace cairn::proxy {
namespace {

using trace::Atom;

/// A number with its sign, behind something: " + 3", " - 3" or "".
std::string plus(int64_t number) {
  if (number == 0) return {};
  return number > 0 ? fmt::format(" + {}", number) : fmt::format(" - {}", 0 - static_cast<uint64_t>(number));
}

/// What a value is under one condition.
struct Part {
  std::string text;
  std::function<Atom(int64_t rank)> value;
};

class Search {
 public:
  Search(const std::vector<uint32_t> &ranks, const std::vector<Atom> &values, uint64_t size, bool marks)
      : ranks_(ranks), values_(values), size_(static_cast<int64_t>(size)), marks_(marks) {}

  std::optional<std::string> run() {
    std::vector<size_t> all(values_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    if (const auto part = simple(all)) return part->text;
    if (values_.size() < 2) return std::nullopt;
    constants_only_ = true;
    if (auto text = odd_ones()) return text;
    constants_only_ = false;
    for (int64_t block = 1; block <= size_; block = next_divisor(block)) {
      for (int64_t count = 2; block * count <= size_; ++count) {
        if (size_ % (block * count) != 0 && block * count < size_) continue;
        for (const int64_t edge : {int64_t{0}, count - 1}) {
          if (auto text = split(place(block, count, edge))) return text;
        }
      }
    }
    return odd_ones();
  }

 private:
  struct Condition {
    std::string text;
    std::function<bool(int64_t)> holds;
  };

  /// One rank, or those below one, do something else.
  std::optional<std::string> odd_ones() {
    const size_t change = first_change();
    for (const size_t odd : {size_t{0}, values_.size() - 1, change}) {
      const int64_t one = ranks_[odd];
      if (auto text = split({fmt::format("rank == {}", one), [one](int64_t rank) { return rank == one; }})) {
        return text;
      }
    }
    const int64_t at = ranks_[change];
    return split({fmt::format("rank < {}", at), [at](int64_t rank) { return rank < at; }});
  }

  [[nodiscard]] int64_t next_divisor(int64_t of) const {
    do ++of;
    while (of <= size_ && size_ % of != 0);
    return of;
  }
  [[nodiscard]] size_t first_change() const {
    const int64_t step = static_cast<int64_t>(static_cast<uint64_t>(values_[1]) - static_cast<uint64_t>(values_[0]));
    for (size_t i = 1; i < values_.size(); ++i) {
      const bool special = trace::is_special(values_[i]) != trace::is_special(values_[i - 1]);
      const auto here = static_cast<int64_t>(static_cast<uint64_t>(values_[i]) - static_cast<uint64_t>(values_[i - 1]));
      if (special || here != step) return i;
    }
    return values_.size() - 1;
  }
  /// Ranks at one edge of a dimension of a grid, whose places are `block` ranks apart and `count` many.
  [[nodiscard]] Condition place(int64_t block, int64_t count, int64_t edge) const {
    const bool last = block * count >= size_;
    std::string text = block == 1 ? "rank" : fmt::format("rank / {}", block);
    if (!last) text = fmt::format("{} % {}", text, count);
    text += fmt::format(" == {}", edge);
    if (last && block > 1) {
      text = edge == 0 ? fmt::format("rank < {}", block) : fmt::format("rank >= {}", block * edge);
    }
    return {text, [=](int64_t rank) { return rank / block % count == edge; }};
  }

  std::optional<std::string> split(const Condition &condition) {
    std::vector<size_t> yes;
    std::vector<size_t> no;
    for (size_t i = 0; i < values_.size(); ++i) (condition.holds(ranks_[i]) ? yes : no).push_back(i);
    // A law for a few values says nothing.
    if (yes.empty() || no.empty()) return std::nullopt;
    within_split_ = true;
    const auto first = simple(yes);
    const auto second = first ? simple(no) : std::nullopt;
    within_split_ = false;
    if (!second) return std::nullopt;
    return fmt::format("{} ? {} : {}", condition.text, first->text, second->text);
  }

  [[nodiscard]] bool holds(const std::vector<size_t> &places, const std::function<Atom(int64_t)> &value) const {
    return std::all_of(places.begin(), places.end(), [&](size_t i) { return values_[i] == value(ranks_[i]); });
  }
  [[nodiscard]] std::optional<Part> simple(const std::vector<size_t> &places) const {
    const Atom first = values_[places[0]];
    const int64_t at = ranks_[places[0]];
    const auto attempt = [&](std::string text, std::function<Atom(int64_t)> value) -> std::optional<Part> {
      if (!holds(places, value)) return std::nullopt;
      return Part{std::move(text), std::move(value)};
    };
    if (auto part = attempt(marks_ ? atom_value(first) : plain_value(first), [=](int64_t) { return first; }))
      return part;
    if (constants_only_ || trace::is_special(first)) return std::nullopt;
    constexpr int64_t kGreat = int64_t{1} << 40;
    if (first > kGreat || first < -kGreat) return std::nullopt;
    const int64_t apart = first - at;
    if (auto part = attempt("rank" + plus(apart), [=](int64_t rank) { return rank + apart; })) return part;
    const int64_t size = size_;
    const int64_t shift = ((apart % size) + size) % size;
    if (first >= 0 && first < size) {
      const std::string text = shift > size / 2 ? fmt::format("(rank + size - {}) % size", size - shift)
                                                : fmt::format("(rank + {}) % size", shift);
      if (auto part = attempt(text, [=](int64_t rank) { return (rank + shift) % size; })) return part;
    }
    if (first >= 0 && first < size && !within_split_) {
      const int64_t mirror = first + at;
      if (auto part = attempt(fmt::format("{} - rank", mirror), [=](int64_t rank) { return mirror - rank; }))
        return part;
      const int64_t mask = first ^ at;
      if (auto part = attempt(fmt::format("rank ^ {}", mask), [=](int64_t rank) { return rank ^ mask; })) return part;
    }
    for (size_t k = 1; k < places.size(); ++k) {
      const int64_t ranks = ranks_[places[k]] - at;
      if (trace::is_special(values_[places[k]])) return std::nullopt;
      const auto change =
          static_cast<int64_t>(static_cast<uint64_t>(values_[places[k]]) - static_cast<uint64_t>(first));
      if (change % ranks != 0 || change > kGreat || change < -kGreat) break;
      const int64_t factor = change / ranks;
      const int64_t rest = first - factor * at;
      if (auto part = attempt(fmt::format("{} * rank{}", factor, plus(rest)),
                              [=](int64_t rank) { return factor * rank + rest; })) {
        return part;
      }
      break;
    }
    for (int64_t width = 2; width < size_ && !within_split_; width = next_divisor(width)) {
      const int64_t row = first - at / width;
      if (auto part =
              attempt(fmt::format("rank / {}{}", width, plus(row)), [=](int64_t rank) { return rank / width + row; })) {
        return part;
      }
      const int64_t column = first - at % width;
      if (auto part = attempt(fmt::format("rank % {}{}", width, plus(column)),
                              [=](int64_t rank) { return rank % width + column; })) {
        return part;
      }
    }
    return std::nullopt;
  }

  const std::vector<uint32_t> &ranks_;
  const std::vector<Atom> &values_;
  const int64_t size_;
  const bool marks_;
  bool constants_only_ = false;
  bool within_split_ = false;  ///< of several laws for a few values each, some always fit
};

}  // namespace

std::string plain_value(Atom value) {
  if (!trace::is_special(value)) {
    if (value <= INT64_MIN + 1) return "INT64_MIN";
    return value > INT32_MAX || value < INT32_MIN ? fmt::format("{}LL", value) : fmt::format("{}", value);
  }
  const uint16_t code = trace::special_code(value);
  const auto all = spec::constants();
  if (code >= trace::kFirstConstant && code - trace::kFirstConstant < static_cast<int>(all.size())) {
    return all[code - trace::kFirstConstant].name;
  }
  return "0";
}

std::string atom_value(Atom value) {
  return trace::is_special(value) ? fmt::format("ATOM({})", trace::special_code(value)) : plain_value(value);
}

std::optional<std::string> law_of(const std::vector<uint32_t> &ranks, const std::vector<Atom> &values, uint64_t size,
                                  bool marks) {
  if (values.empty() || ranks.size() != values.size() || size == 0) return std::nullopt;
  return Search(ranks, values, size, marks).run();
}

}  // namespace cairn::proxy
