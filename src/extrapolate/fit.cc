#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "extrapolate/law.h"
#include "extrapolate/multipartition.h"
#include "trace/values/atom.h"

namespace cairn::extrapolate {
namespace {

constexpr int kDeepestChoice = 4;
constexpr int kMostTries = 4000;      // choices that are looked at for one set of values
constexpr size_t kMostFollowed = 10;  // of choices that solve one side, those whose other side is gone into
constexpr int64_t kLongestTable = 16;
constexpr int kFarFetched = 6;         // what costs more gives way to laws of multipartitions
constexpr int kFarFetchedChoice = 16;  // what costs more may be simpler turn by turn
constexpr int kOffsetCost = 2;
constexpr int kFactorCost = 3;

bool alike(double predicted, int64_t value) {
  return std::abs(predicted - number(value)) <= 1e-9 * std::abs(number(value)) + 1e-6;
}

/// How many different values there are, up to `most`.
class Different {
 public:
  explicit Different(size_t most) : most_(most) {}
  void add(double first, double second = 0) {
    if (seen_.size() >= most_) return;
    const std::pair pair(first, second);
    if (std::find(seen_.begin(), seen_.end(), pair) == seen_.end()) seen_.push_back(pair);
  }
  [[nodiscard]] size_t count() const { return seen_.size(); }

 private:
  size_t most_;
  std::vector<std::pair<double, double>> seen_;
};

/// A factor near a number with few digits is that number.
double tidied(double value) {
  const double scaled = std::nearbyint(value * 5040);
  return std::abs(value * 5040 - scaled) < 1e-5 ? scaled / 5040 : value;
}

}  // namespace

Fit::Fit(std::vector<Moment> moments, std::vector<uint32_t> runs)
    : moments_(std::move(moments)), runs_(std::move(runs)), columns_(terms().size()), holds_(predicates().size()) {}

const std::vector<double> &Fit::column(size_t term) {
  std::vector<double> &column = columns_[term];
  if (column.empty()) {
    column.reserve(moments_.size());
    for (const Moment &moment : moments_) column.push_back(terms()[term].at(moment));
  }
  return column;
}

size_t Fit::runs_of(const Points &points) const {
  size_t changes = points.empty() ? 0 : 1;  // runs ascend
  for (size_t i = 1; i < points.size(); ++i) changes += runs_[points[i]] != runs_[points[i - 1]] ? 1 : 0;
  return changes;
}

bool Fit::means_something(size_t term, const Points &points) {
  const std::vector<double> &at = column(term);
  return std::none_of(points.begin(), points.end(), [&](uint32_t point) { return std::isnan(at[point]); });
}

std::optional<Fit::Found> Fit::one_term(const std::vector<int64_t> &values, const Points &points) {
  std::optional<Found> best;
  const size_t runs = runs_of(points);
  for (size_t t = 0; t < terms().size(); ++t) {
    const std::vector<double> &at = column(t);
    const uint32_t front = points.front();
    if (std::isnan(at[front])) continue;
    const auto other = std::find_if(points.begin(), points.end(), [&](uint32_t p) { return at[p] != at[front]; });
    if (other == points.end() || std::isnan(at[*other])) continue;
    const double factor = tidied(number(values[*other] - values[front]) / (at[*other] - at[front]));
    if (factor == 0) continue;
    double offset = number(values[front]) - factor * at[front];
    if (std::abs(offset) < 1e-6) offset = 0;
    const bool free_factor = std::abs(factor) != 1;
    const size_t numbers = (offset != 0 ? 1U : 0U) + (free_factor ? 1U : 0U);
    Different different(numbers + 1);
    const bool right = std::all_of(points.begin(), points.end(), [&](uint32_t p) {
      if (std::isnan(at[p]) || !alike(offset + factor * at[p], values[p])) return false;
      different.add(at[p]);
      return true;
    });
    if (!right || different.count() <= numbers) continue;
    // In one run alone, what the side of a mesh is cannot be told from a number.
    int cost = terms()[t].cost + (offset != 0 ? kOffsetCost : 0) + (free_factor ? kFactorCost : 0);
    if (runs < 2 && std::abs(offset) > 1) cost += 6;
    if (best && best->cost <= cost) continue;
    Law law;
    law.kind = Law::Kind::sum;
    law.offset = offset;
    law.factor = factor;
    law.first = static_cast<uint16_t>(t);
    best = Found{law, cost};
  }
  return best;
}

std::optional<Fit::Found> Fit::two_terms(const std::vector<int64_t> &values, const Points &points) {
  if (points.size() < 3) return std::nullopt;
  std::vector<size_t> usable;
  for (size_t t = 0; t < terms().size(); ++t) {
    if (!terms()[t].sums || !means_something(t, points)) continue;
    const std::vector<double> &at = column(t);
    if (std::any_of(points.begin(), points.end(), [&](uint32_t p) { return at[p] != at[points.front()]; })) {
      usable.push_back(t);
    }
  }
  std::optional<Found> best;
  for (size_t i = 0; i < usable.size(); ++i) {
    const std::vector<double> &u = column(usable[i]);
    for (size_t j = i + 1; j < usable.size(); ++j) {
      const int least = terms()[usable[i]].cost + terms()[usable[j]].cost;
      if (best && best->cost <= least) continue;
      const std::vector<double> &w = column(usable[j]);
      // Three points that tell the two factors and the offset.
      const uint32_t a = points.front();
      const auto second = std::find_if(points.begin(), points.end(), [&](uint32_t p) { return u[p] != u[a]; });
      const uint32_t b = *second;
      double determinant = 0;
      const auto third = std::find_if(points.begin(), points.end(), [&](uint32_t p) {
        determinant = (u[b] - u[a]) * (w[p] - w[a]) - (u[p] - u[a]) * (w[b] - w[a]);
        return std::abs(determinant) > 1e-9;
      });
      if (third == points.end()) continue;
      const double vb = number(values[b] - values[a]);
      const double vc = number(values[*third] - values[a]);
      const double f = tidied((vb * (w[*third] - w[a]) - vc * (w[b] - w[a])) / determinant);
      const double g = tidied(((u[b] - u[a]) * vc - (u[*third] - u[a]) * vb) / determinant);
      if (f == 0 || g == 0) continue;
      double offset = number(values[a]) - f * u[a] - g * w[a];
      if (std::abs(offset) < 1e-6) offset = 0;
      const size_t numbers = (offset != 0 ? 1U : 0U) + (std::abs(f) != 1 ? 1U : 0U) + (std::abs(g) != 1 ? 1U : 0U);
      Different different(numbers + 1);
      const bool right = std::all_of(points.begin(), points.end(), [&](uint32_t p) {
        if (!alike(offset + f * u[p] + g * w[p], values[p])) return false;
        different.add(u[p], w[p]);
        return true;
      });
      if (!right || different.count() <= numbers) continue;
      const int cost = least + 2 + (offset != 0 ? kOffsetCost : 0) + (std::abs(f) != 1 ? kFactorCost : 0) +
                       (std::abs(g) != 1 ? kFactorCost : 0);
      if (best && best->cost <= cost) continue;
      Law law;
      law.kind = Law::Kind::sum;
      law.offset = offset;
      law.factor = f;
      law.second_factor = g;
      law.first = static_cast<uint16_t>(usable[i]);
      law.second = static_cast<uint16_t>(usable[j]);
      law.two = true;
      best = Found{law, cost};
    }
  }
  return best;
}

std::optional<Fit::Found> Fit::share(const std::vector<int64_t> &values, const Points &points) {
  constexpr int64_t kMostDivided = 1 << 16;
  constexpr int64_t kMostOffset = 4;
  if (runs_of(points) < 2) return std::nullopt;
  for (size_t d = 0; d < divisions().size(); ++d) {
    const Division &division = divisions()[d];
    // The first run in which the shares differ tells the factor; the values there are two.
    int64_t factor = 0;
    for (size_t i = 1; i < points.size() && factor == 0; ++i) {
      if (runs_[points[i]] != runs_[points[i - 1]]) continue;
      factor = std::abs(values[points[i]] - values[points[i - 1]]);
    }
    if (factor == 0) return std::nullopt;
    for (int64_t offset = -kMostOffset; offset <= kMostOffset; ++offset) {
      const uint32_t front = points.front();
      const int64_t share = (values[front] - offset * factor) / factor;
      if (share < 0 || (values[front] - offset * factor) % factor != 0) continue;
      const int64_t parts = division.parts(*moments_[front].of);
      const int64_t least = std::max<int64_t>(1, (share - 1) * parts);
      for (int64_t divided = least; divided <= (share + 1) * parts && divided < kMostDivided; ++divided) {
        Law law;
        law.kind = Law::Kind::share;
        law.value = divided;
        law.offset = number(offset * factor);
        law.factor = number(factor);
        law.first = static_cast<uint16_t>(d);
        const bool right =
            std::all_of(points.begin(), points.end(), [&](uint32_t p) { return law.at(moments_[p]) == values[p]; });
        if (right) return Found{law, 9};
      }
    }
  }
  return std::nullopt;
}

std::optional<Fit::Found> Fit::simple(const std::vector<int64_t> &values, const Points &points) {
  const int64_t front = values[points.front()];
  if (std::all_of(points.begin(), points.end(), [&](uint32_t p) { return values[p] == front; })) {
    return Found{Law::constant(front), 1};
  }
  if (std::any_of(points.begin(), points.end(), [&](uint32_t p) { return trace::is_special(values[p]); })) {
    return std::nullopt;
  }
  ++tries_;
  std::optional<Found> one = one_term(values, points);
  if (one && one->cost <= 6) return one;
  // What does not come out even in some run is told from a sum of two terms by its remainders.
  if (std::optional<Found> dealt = share(values, points); dealt && (!one || dealt->cost < one->cost)) return dealt;
  std::optional<Found> two = two_terms(values, points);
  if (two && (!one || two->cost < one->cost)) one = two;
  return one;
}

std::optional<Fit::Found> Fit::choice(const std::vector<int64_t> &values, const Points &points, int depth) {
  struct Half {
    size_t predicate;
    bool solved_yes;
    Found solved;
    Points other;
    int cost;
  };
  std::optional<Found> best;
  std::vector<Half> halves;
  const size_t runs = runs_of(points);
  const auto chosen = [&](size_t predicate, const Found &yes, const Found &no) {
    Law law;
    law.kind = Law::Kind::choice;
    law.first = static_cast<uint16_t>(predicate);
    law.yes = std::make_shared<const Law>(yes.law);
    law.no = std::make_shared<const Law>(no.law);
    const int cost = predicates()[predicate].cost + yes.cost + no.cost + 3;
    if (!best || cost < best->cost) best = Found{law, cost};
  };
  for (size_t p = 0; p < predicates().size(); ++p) {
    if (tries_ > kMostTries) break;
    if (holds_[p].empty()) {
      holds_[p].reserve(moments_.size());
      for (const Moment &moment : moments_) holds_[p].push_back(predicates()[p].holds(moment));
    }
    Points yes;
    Points no;
    for (const uint32_t point : points) (holds_[p][point] ? yes : no).push_back(point);
    if (yes.empty() || no.empty()) continue;
    if (runs > 1 && (runs_of(yes) < 2 || runs_of(no) < 2)) continue;
    std::optional<Found> if_yes = simple(values, yes);
    std::optional<Found> if_no = simple(values, no);
    if (if_yes && if_no) {
      chosen(p, *if_yes, *if_no);
    } else if (if_yes || if_no) {
      const bool solved_yes = if_yes.has_value();
      const Found solved = solved_yes ? *if_yes : *if_no;
      halves.push_back(
          {p, solved_yes, solved, solved_yes ? std::move(no) : std::move(yes), predicates()[p].cost + solved.cost});
    }
  }
  if (best || depth == 0) return best;
  std::stable_sort(halves.begin(), halves.end(), [](const Half &a, const Half &b) { return a.cost < b.cost; });
  if (halves.size() > kMostFollowed) halves.resize(kMostFollowed);
  for (const Half &half : halves) {
    if (tries_ > kMostTries) break;
    const std::optional<Found> rest = choice(values, half.other, depth - 1);
    if (!rest) continue;
    if (half.solved_yes) {
      chosen(half.predicate, half.solved, *rest);
    } else {
      chosen(half.predicate, *rest, half.solved);
    }
  }
  return best;
}

std::optional<Fit::Found> Fit::table(const std::vector<int64_t> &values, const Points &points, int depth) {
  for (uint16_t by = 0; by <= kByElement; ++by) {
    std::vector<Points> parts;
    std::map<uint32_t, size_t> longest;  // by run
    for (const uint32_t point : points) {
      const int64_t place = table_place(moments_[point], by);
      if (place < 0 || place >= kLongestTable) {
        parts.clear();
        break;
      }
      if (static_cast<size_t>(place) >= parts.size()) parts.resize(static_cast<size_t>(place) + 1);
      parts[static_cast<size_t>(place)].push_back(point);
      size_t &length = longest[runs_[point]];
      length = std::max(length, static_cast<size_t>(place) + 1);
    }
    const auto used = std::count_if(parts.begin(), parts.end(), [](const Points &part) { return !part.empty(); });
    // One that grows from run to run would be too short in the next.
    if (used < 2 || (longest.size() > 1 && std::next(longest.rbegin())->second != parts.size())) continue;
    Law law;
    law.kind = Law::Kind::table;
    law.first = by;
    int cost = 4;
    for (const Points &part : parts) {
      law.each.push_back(nullptr);
      if (part.empty()) continue;
      const std::optional<Found> found = any(values, part, depth, by != kByElement && by + 1 < kByElement);
      if (!found) {
        cost = -1;
        break;
      }
      law.each.back() = std::make_shared<const Law>(found->law);
      cost += found->cost;
    }
    if (cost >= 0) return Found{law, cost};
  }
  return std::nullopt;
}

std::optional<Fit::Found> Fit::any(const std::vector<int64_t> &values, const Points &points, int depth, bool tables) {
  std::optional<Found> found = simple(values, points);
  if (!found) found = choice(values, points, 0);
  if (tables && (!found || found->cost > kFarFetchedChoice)) {
    const std::optional<Found> by_turn = table(values, points, std::min(depth, 2));
    if (by_turn && (!found || by_turn->cost < found->cost)) found = by_turn;
  }
  for (int deeper = 1; !found && deeper <= depth && tries_ <= kMostTries; ++deeper) {
    found = choice(values, points, deeper);
  }
  return found;
}

std::optional<Law> Fit::law(const std::vector<int64_t> &values) {
  if (moments_.empty()) return Law::constant(0);
  const auto known = known_.find(values);
  if (known != known_.end()) return known->second;
  Points all(moments_.size());
  std::iota(all.begin(), all.end(), 0U);
  tries_ = 0;
  std::optional<Found> found = simple(values, all);
  const size_t runs = runs_of(all);
  if (runs > 2 && (!found || found->cost > kFarFetched)) {
    std::optional<Law> law = faces_law(moments_, values);
    if (!law) law = room_law(moments_, values);
    if (law) found = Found{*law, kFarFetched};
  }
  if (!found && runs > 1) {
    std::optional<Law> law = cells_law(moments_, values);
    if (!law && runs > 2) law = area_law(moments_, values);
    if (law) found = Found{*law, kFarFetched};
  }
  if (!found) found = any(values, all, kDeepestChoice, true);
  return known_[values] = found ? std::optional<Law>(found->law) : std::nullopt;
}

}  // namespace cairn::extrapolate
