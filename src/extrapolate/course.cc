#include "extrapolate/course.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace cairn::extrapolate {
namespace {

using Items = std::vector<CourseItem>;
using Nests = std::vector<Nest>;
constexpr size_t kMostCompared = size_t{1} << 24;

constexpr double kTraitsWeight = 0.01;
constexpr double kInLoop = 0.9;  // a call that stands alone for one in a loop
constexpr size_t kMostTraits = 8;

/// How many of the call's traits some sequence has there.
double alike(const CourseItem &item, const Traits &traits) {
  size_t most = 0;
  for (const Traits &known : item.traits) {
    size_t same = 0;
    for (size_t i = 0; i < traits.size(); ++i) same += known[i] == traits[i] ? 1 : 0;
    most = std::max(most, same);
  }
  return static_cast<double>(most);
}

double likeness_of_calls(const CourseItem &item, const Nest &nest) {
  if (item.is_loop() || item.call != nest.call) return 0;
  return 1 + kTraitsWeight * alike(item, nest.traits);
}

void note_traits(CourseItem *item, const Traits &traits) {
  if (item->traits.size() >= kMostTraits) return;
  if (std::find(item->traits.begin(), item->traits.end(), traits) == item->traits.end()) item->traits.push_back(traits);
}

size_t calls_in(const Nests &list) {
  size_t sum = 0;
  for (const Nest &item : list) sum += item.is_loop() ? calls_in(item.body) : 1;
  return sum;
}

bool same_form(const Items &items, const Nests &nests) {
  return std::equal(items.begin(), items.end(), nests.begin(), nests.end(),
                    [](const CourseItem &a, const Nest &b) { return a.call == b.call && same_form(a.body, b.body); });
}

class Joining {
 public:
  explicit Joining(size_t sequences) : sequences_(sequences) {}

  /// Lays `nests` of that sequence along `items`. `alive`: which earlier sequences come here.
  bool join(Items *items, const Nests &nests, size_t sequence, const std::vector<bool> &alive) {
    const auto pairs = aligned(*items, nests);
    if (failed_) return false;
    Items out;
    size_t i = 0;
    size_t n = 0;
    const auto pass = [&](size_t to_item, size_t to_nest) {
      for (; i < to_item; ++i) out.push_back(left_out(std::move((*items)[i]), sequence));
      for (; n < to_nest; ++n) out.push_back(fresh(nests[n], sequence, alive));
    };
    for (const auto &[item, nest] : pairs) {
      pass(item, nest);
      CourseItem joined = std::move((*items)[i++]);
      if (!join_one(&joined, nests[n++], sequence, alive)) return false;
      out.push_back(std::move(joined));
    }
    pass(items->size(), nests.size());
    *items = std::move(out);
    return true;
  }

 private:
  static CourseItem left_out(CourseItem item, size_t sequence) {
    item.counts[sequence] = 0;
    return item;
  }

  CourseItem fresh(const Nest &nest, size_t sequence, const std::vector<bool> &alive) {
    CourseItem item;
    item.call = nest.call;
    item.counts.assign(sequences_, CourseItem::kNotAsked);
    for (size_t s = 0; s < sequence; ++s) item.counts[s] = alive[s] ? 0 : CourseItem::kNotAsked;
    item.counts[sequence] = static_cast<int64_t>(nest.count);
    if (!nest.is_loop()) note_traits(&item, nest.traits);
    const std::vector<bool> nobody(sequences_, false);
    for (const Nest &inner : nest.body) item.body.push_back(fresh(inner, sequence, nobody));
    return item;
  }

  bool join_one(CourseItem *item, const Nest &nest, size_t sequence, const std::vector<bool> &alive) {
    if (!item->is_loop() && !nest.is_loop()) {
      item->counts[sequence] = static_cast<int64_t>(nest.count);
      note_traits(item, nest.traits);
      return true;
    }
    std::vector<bool> inside(sequences_, false);
    for (size_t s = 0; s < sequence; ++s) inside[s] = alive[s] && item->counts[s] > 0;
    if (!item->is_loop()) {
      // A call by itself so far: the loop holds nothing else on the ranks before.
      CourseItem call = *item;
      for (size_t s = 0; s < sequences_; ++s) call.counts[s] = inside[s] ? 1 : CourseItem::kNotAsked;
      item->call = Nest::kLoop;
      item->body.clear();
      item->body.push_back(std::move(call));
    }
    if (nest.is_loop()) {
      item->counts[sequence] = static_cast<int64_t>(nest.count);
      return join(&item->body, nest.body, sequence, inside);
    }
    // Where nothing else is in the loop, its turns have run together with the call's own.
    const uint64_t turns = likely_turns(*item, inside, nest.count);
    item->counts[sequence] = static_cast<int64_t>(turns);
    Nest call = nest;
    call.count = nest.count / turns;
    return join(&item->body, {call}, sequence, inside);
  }

  /// Of the numbers of turns that other sequences make, the most frequent that divides `count`; else `count`.
  static uint64_t likely_turns(const CourseItem &loop, const std::vector<bool> &inside, uint64_t count) {
    std::map<uint64_t, size_t> often;
    for (size_t s = 0; s < inside.size(); ++s) {
      if (inside[s] && count % static_cast<uint64_t>(loop.counts[s]) == 0)
        ++often[static_cast<uint64_t>(loop.counts[s])];
    }
    uint64_t turns = count;
    size_t most = 0;
    for (const auto &[each, times] : often) {
      if (times < most) continue;
      most = times;
      turns = each;
    }
    return turns;
  }

  /// How many calls fall together at most.
  double likeness(const CourseItem &item, const Nest &nest) {
    if (!item.is_loop() && !nest.is_loop()) return likeness_of_calls(item, nest);
    double most = 0;
    if (!item.is_loop()) {
      for (const Nest &in : nest.body) most = std::max(most, likeness_of_calls(item, in));
      return kInLoop * most;
    }
    if (!nest.is_loop()) {
      for (const CourseItem &in : item.body) most = std::max(most, likeness_of_calls(in, nest));
      return kInLoop * most;
    }
    const auto [entry, fresh] = likeness_.try_emplace(std::pair(&item, &nest), 0.0);
    if (fresh) {
      double sum = 0;
      for (const auto &[i, n] : aligned(item.body, nest.body)) sum += likeness(item.body[i], nest.body[n]);
      likeness_[std::pair(&item, &nest)] = sum;
      return sum;
    }
    return entry->second;
  }

  /// Pairs of places, ascending.
  std::vector<std::pair<size_t, size_t>> aligned(const Items &items, const Nests &nests) {
    std::vector<std::pair<size_t, size_t>> pairs;
    const size_t rows = items.size();
    const size_t columns = nests.size();
    if (same_form(items, nests)) {
      for (size_t i = 0; i < rows; ++i) pairs.emplace_back(i, i);
      return pairs;
    }
    if (rows * columns > kMostCompared) {
      failed_ = true;
      return pairs;
    }
    std::vector<double> like(rows * columns);
    std::vector<double> best((rows + 1) * (columns + 1));
    const auto at = [&](size_t i, size_t n) -> double & { return best[i * (columns + 1) + n]; };
    for (size_t i = rows; i-- > 0;) {
      for (size_t n = columns; n-- > 0;) {
        like[i * columns + n] = likeness(items[i], nests[n]);
        at(i, n) = std::max(
            {at(i + 1, n), at(i, n + 1), like[i * columns + n] > 0 ? at(i + 1, n + 1) + like[i * columns + n] : 0});
      }
    }
    for (size_t i = 0, n = 0; i < rows && n < columns;) {
      if (like[i * columns + n] > 0 && at(i, n) == at(i + 1, n + 1) + like[i * columns + n]) {
        pairs.emplace_back(i++, n++);
      } else if (at(i, n) == at(i + 1, n)) {
        ++i;
      } else {
        ++n;
      }
    }
    return pairs;
  }

  size_t sequences_;
  bool failed_ = false;
  std::map<std::pair<const CourseItem *, const Nest *>, double> likeness_;

 public:
  void forget() { likeness_.clear(); }
};

void number_all(Items *items, uint32_t *next) {
  for (CourseItem &item : *items) {
    item.number = (*next)++;
    item.turns = std::any_of(item.counts.begin(), item.counts.end(), [](int64_t count) { return count > 1; });
    number_all(&item.body, next);
  }
}

}  // namespace

bool course_of(std::vector<std::vector<Nest>> sequences, const std::vector<size_t> &runs, const TraitsOf &traits_of,
               Course *course) {
  settle_turns(&sequences, runs);
  for (size_t s = 0; s < sequences.size(); ++s) {
    set_traits(&sequences[s], [&](size_t place) { return traits_of(s, place); });
  }
  std::vector<size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return calls_in(sequences[a]) > calls_in(sequences[b]); });
  Joining joining(sequences.size());
  course->list.clear();
  for (size_t k = 0; k < order.size(); ++k) {
    joining.forget();
    if (!joining.join(&course->list, sequences[order[k]], k, std::vector<bool>(sequences.size(), true))) return false;
  }
  course->items = 0;
  number_all(&course->list, &course->items);
  // Counts stand in the order in which sequences came in: put them back.
  std::vector<size_t> place(order.size());
  for (size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
  const auto reorder = [&](auto &&self, Items *items) -> void {
    for (CourseItem &item : *items) {
      std::vector<int64_t> counts(item.counts.size());
      for (size_t s = 0; s < counts.size(); ++s) counts[s] = item.counts[place[s]];
      item.counts = std::move(counts);
      self(self, &item.body);
    }
  };
  reorder(reorder, &course->list);
  return true;
}

}  // namespace cairn::extrapolate
