#include "analyze/loop_tree.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cairn::analyze {
namespace {

using Items = std::vector<LoopItem>;

/// Equal bodies have equal numbers, above those of symbols.
class Numbers {
 public:
  uint32_t of(const Items &body) {
    std::vector<uint32_t> key;
    key.reserve(body.size());
    for (const LoopItem &item : body) key.push_back(item.number);
    return numbers_.try_emplace(std::move(key), UINT32_MAX - static_cast<uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::vector<uint32_t>, uint32_t> numbers_;
};

/// As often again, each time.
void scale(Items *items, uint64_t times) {
  for (LoopItem &item : *items) {
    item.times *= times;
    item.turns *= times;
    scale(&item.body, times);
  }
}

enum class Order : uint8_t { before, after };

/// What `other` were, which are equal and come before or after them, are part of `items` now.
void add(Items *items, const Items &other, Order order) {
  for (size_t i = 0; i < items->size(); ++i) {
    LoopItem &item = (*items)[i];
    if (order == Order::after) item.last = other[i].last;
    item.times += other[i].times;
    item.turns += other[i].turns;
    item.least = std::min(item.least, other[i].least);
    item.most = std::max(item.most, other[i].most);
    add(&item.body, other[i].body, order);
  }
}

uint64_t size_of(const Items &items) {
  uint64_t size = items.size();
  for (const LoopItem &item : items) size += size_of(item.body);
  return size;
}

/// For an item that is come to once.
void set_turns(LoopItem *item, uint64_t turns) { item->turns = item->least = item->most = item->last = turns; }

/// One of them is taken for `other`, which is equal.
void allow(Items *items, const Items &other) {
  for (size_t i = 0; i < items->size(); ++i) {
    LoopItem &item = (*items)[i];
    item.least = std::min(item.least, other[i].least);
    item.most = std::max(item.most, other[i].most);
    allow(&item.body, other[i].body);
  }
}

/// Items in a row, none of which is come to more than once.
class List {
 public:
  explicit List(Numbers *numbers) : numbers_(numbers) {}

  void append(LoopItem item) {
    Items rest;
    do {
      while (!items_.empty() && begin_earlier(&item, &rest)) {
      }
    } while (close_last());
    push(std::move(item));
    for (LoopItem &each : rest) append(std::move(each));
  }
  /// Nothing more follows.
  void close() {
    close_last();
    while (base_ != kNone) close_base({});
  }
  [[nodiscard]] const Items &items() const { return items_; }

  // For who follows how a list grows.
  /// From now on `untouched` is how many of its first items stayed as they are now.
  void watch() { untouched_ = items_.size(); }
  void watch(size_t untouched) { untouched_ = untouched; }
  [[nodiscard]] size_t untouched() const { return untouched_; }
  /// What it may do next follows from these, and from the items but for their turns.
  [[nodiscard]] auto state() const { return std::tuple(items_.size(), closed_, base_); }
  /// Of its items behind the first ones, all but the turns is as it was.
  void set_tail(size_t from, Items tail) {
    std::move(tail.begin(), tail.end(), items_.begin() + static_cast<ptrdiff_t>(from));
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr size_t kMostCandidates = 64;

  [[nodiscard]] bool ends_in(const Items &body) const {
    const size_t begin = items_.size() - body.size();
    for (size_t i = body.size(); i-- > 0;) {
      if (items_[begin + i].number != body[i].number) return false;
    }
    return true;
  }

  void push(LoopItem item) {
    const size_t place = items_.size();
    places_[item.number].push_back(place);
    size_t depth = 0;
    for (const LoopItem *at = &item; at->is_loop(); at = &at->body.back()) {
      ends_[place + at->body.size()].push_back({place, depth++});
    }
    items_.push_back(std::move(item));
  }
  LoopItem pop() {
    LoopItem item = std::move(items_.back());
    items_.pop_back();
    places_[item.number].pop_back();
    for (const LoopItem *at = &item; at->is_loop(); at = &at->body.back()) {
      ends_[items_.size() + at->body.size()].pop_back();
    }
    closed_ = std::min(closed_, items_.size());
    untouched_ = std::min(untouched_, items_.size());
    if (base_ != kNone && base_ >= closed_) base_ = kNone;
    return item;
  }
  Items pop(size_t count) {
    Items items(count);
    for (size_t i = count; i > 0; --i) items[i - 1] = pop();
    return items;
  }

  /// Takes what the list ends in into the item that is to be put behind it, if these are the same, or one ends as the
  /// other does. What then has to stand behind it goes to the begin of `rest`.
  bool begin_earlier(LoopItem *item, Items *rest) {
    if (items_.back().number == item->number) {
      LoopItem before = pop();
      add(&before.body, item->body, Order::after);
      set_turns(&before, before.turns + item->turns);
      *item = std::move(before);
      return true;
    }
    if (items_.back().is_loop() && items_.back().body.back().number == item->number) {
      LoopItem before = pop();
      LoopItem &end = before.body.back();
      end.turns += item->turns;
      end.last += item->turns;
      end.most = std::max(end.most, end.last);
      add(&end.body, item->body, Order::after);
      *item = std::move(before);
      return true;
    }
    Items &body = item->body;
    if (!body.empty() && body.size() <= items_.size() && ends_in(body)) {
      const Items taken = pop(body.size());
      add(&body, taken, Order::before);
      set_turns(item, item->turns + 1);
      return true;
    }
    size_t alike = 0;
    while (alike < body.size() && alike < items_.size() &&
           items_[items_.size() - 1 - alike].number == body[body.size() - 1 - alike].number) {
      ++alike;
    }
    if (alike == 0) return false;
    Items taken = pop(alike);
    std::rotate(body.begin(), body.end() - static_cast<ptrdiff_t>(alike), body.end());
    // What stands behind them all is the end of the last turn: as long as the one before the first, for all that
    // counts.
    Items first(body.begin(), body.begin() + static_cast<ptrdiff_t>(alike));
    allow(&first, taken);
    std::move(first.begin(), first.end(), body.begin());
    item->number = numbers_->of(body);
    taken.insert(taken.end(), rest->begin(), rest->end());
    *rest = std::move(taken);
    return true;
  }

  /// Another item follows, so that the last one is complete. False if it was already.
  bool close_last() {
    if (closed_ == items_.size()) return false;
    if (base_ == kNone) {
      ++closed_;
      if (items_.back().is_loop()) {
        base_ = items_.size() - 1;
      } else {
        find_loops();
      }
      return true;
    }
    const Items &body = items_[base_].body;
    const size_t had = items_.size() - 1 - base_ - 1;
    if (body[had].number == items_.back().number) {
      ++closed_;
      if (had + 1 == body.size()) go_on(base_);
      return true;
    }
    close_base(pop(had + 1));
    return true;
  }

  /// The loop at `base_` does not go on: `behind` stands there.
  void close_base(Items behind) {
    if (behind.empty()) behind = pop(items_.size() - 1 - base_);
    base_ = kNone;
    find_loops();
    for (LoopItem &item : behind) {
      push(std::move(item));
      close_last();
    }
  }

  /// All items are complete; what they end in may be a loop, or one more turn. That may go on, and is compared with
  /// what is before it when it does not.
  void find_loops() {
    if (const auto ends = ends_.find(items_.size() - 1); ends != ends_.end()) {
      for (const auto &[place, depth] : ends->second) {
        if (ends_in(last_in(&items_[place], depth)->body)) return go_on(place, depth);
      }
    }
    repeat();
  }

  /// The loop that a loop's turns end in, and so on.
  static LoopItem *last_in(LoopItem *loop, size_t depth) {
    while (depth-- > 0) loop = &loop->body.back();
    return loop;
  }

  /// The items behind that loop are one more turn of it, or, further in, of what its last turn ended in.
  void go_on(size_t place, size_t depth = 0) {
    const Items turn = pop(items_.size() - 1 - place);
    LoopItem loop = pop();
    LoopItem *going_on = last_in(&loop, depth);
    add(&going_on->body, turn, Order::after);
    ++going_on->turns;
    ++going_on->last;
    going_on->most = std::max(going_on->most, going_on->last);
    if (depth == 0) set_turns(&loop, loop.turns);
    put_back(std::move(loop));
  }

  /// How often its symbol stands more often in front of the first turn than of the second, where that is all in which
  /// they differ: `a a b a b` is `a` and then twice `a b`.
  static uint64_t more_at_first(const Items &first, const Items &second) {
    if (first[0].is_loop() || first[0].turns <= second[0].turns) return 0;
    for (size_t i = 1; i < first.size(); ++i) {
      if (first[i].turns != second[i].turns) return 0;
    }
    return first.size() == 1 ? 0 : first[0].turns - second[0].turns;
  }

  /// The list ends in the same items twice.
  void repeat() {
    const size_t size = items_.size();
    const std::vector<size_t> &places = places_[items_.back().number];
    for (size_t i = 1; i < places.size() && i <= kMostCandidates; ++i) {
      const size_t length = size - 1 - places[places.size() - 1 - i];
      if (2 * length > size) return;
      bool same = true;
      for (size_t k = 1; same && k <= length; ++k) same = items_[size - k].number == items_[size - length - k].number;
      if (!same) continue;
      const Items second = pop(length);
      LoopItem loop;
      loop.body = pop(length);
      if (const uint64_t more = more_at_first(loop.body, second); more != 0) {
        LoopItem before = loop.body[0];
        set_turns(&before, more);
        set_turns(&loop.body[0], loop.body[0].turns - more);
        push(std::move(before));
      }
      add(&loop.body, second, Order::after);
      set_turns(&loop, 2);
      loop.number = numbers_->of(loop.body);
      return put_back(std::move(loop));
    }
  }

  /// A loop that may go on.
  void put_back(LoopItem loop) {
    Items rest;
    while (!items_.empty() && items_.back().number == loop.number) begin_earlier(&loop, &rest);
    push(std::move(loop));
    closed_ = items_.size();
    base_ = closed_ - 1;
  }

  Numbers *numbers_;
  Items items_;
  size_t closed_ = 0;  ///< so many are complete: all but the last, or that as well
  size_t untouched_ = 0;
  size_t base_ = kNone;  ///< a loop: what is complete behind it is the begin of another turn
  std::unordered_map<uint32_t, std::vector<size_t>> places_;  ///< by number, ascending
  struct Place {
    size_t place;
    size_t depth;  ///< of the loop that its turns end in, and so on
  };
  std::unordered_map<size_t, std::vector<Place>> ends_;  ///< loops, by where one more turn would end
};

/// `last`, which grew from `before` as that did from `first`, after so many further such steps. False: it did not grow
/// in turns alone, or not evenly.
bool grow(Items *last, const Items &before, const Items &first, uint64_t steps) {
  if (last->size() != before.size() || last->size() != first.size()) return false;
  for (size_t i = 0; i < last->size(); ++i) {
    LoopItem &item = (*last)[i];
    if (item.number != before[i].number || item.number != first[i].number) return false;
    if (!grow(&item.body, before[i].body, first[i].body, steps)) return false;
    const uint64_t more_times = item.times - before[i].times;
    const uint64_t more_turns = item.turns - before[i].turns;
    if (before[i].times - first[i].times != more_times || before[i].turns - first[i].turns != more_turns) return false;
    if (item.times == 1) {
      set_turns(&item, item.turns + more_turns * steps);
      continue;
    }
    const auto bounds = [](const LoopItem &of) { return std::tuple(of.least, of.most, of.last); };
    if (bounds(item) != bounds(before[i]) || (more_times == 0 && more_turns != 0)) return false;
    item.times += more_times * steps;
    item.turns += more_turns * steps;
  }
  return true;
}

/// Puts one call after the other into a list. A rule that stands there many times is put there a few times, until the
/// list grows evenly, in turns alone; then it grows as much as by the rest.
class CallByCall {
 public:
  CallByCall(const grammar::Grammar &calls, Numbers *numbers, uint64_t most)
      : rules_(calls.rules()), list_(numbers), left_(most) {}
  /// Nothing: it takes more than so many.
  std::optional<Items> run() {
    if (!put(0)) return std::nullopt;
    list_.close();
    return list_.items();
  }

 private:
  static constexpr size_t kDeepest = 1000;

  bool put(uint32_t rule) {
    if (++depth_ > kDeepest) return false;
    for (const grammar::Term &term : rules_[rule]) {
      if (left_-- == 0) return false;
      if (term.is_rule) {
        if (!(term.count == 1 ? put(term.id) : put(term.id, term.count))) return false;
        continue;
      }
      LoopItem item;
      item.symbol = item.number = term.id;
      set_turns(&item, term.count);
      list_.append(std::move(item));
    }
    --depth_;
    return true;
  }

  bool put(uint32_t rule, uint64_t count) {
    const size_t outer = list_.untouched();
    list_.watch();
    struct Seen {
      decltype(list_.state()) state;
      size_t from;
      Items tail;
    };
    std::deque<Seen> seen;
    for (uint64_t copy = 1; copy <= count; ++copy) {
      if (!put(rule)) return false;
      const size_t from = list_.untouched();
      const auto begin = list_.items().begin() + static_cast<ptrdiff_t>(from);
      seen.push_back({list_.state(), from, Items(begin, list_.items().end())});
      if (seen.size() < 3) continue;
      const bool same = seen[0].state == seen[2].state && seen[1].state == seen[2].state && seen[0].from == from &&
                        seen[1].from == from;
      if (same && grow(&seen[2].tail, seen[1].tail, seen[0].tail, count - copy)) {
        list_.set_tail(from, std::move(seen[2].tail));
        break;
      }
      seen.pop_front();
    }
    list_.watch(std::min(outer, list_.untouched()));
    return true;
  }

  const std::vector<std::vector<grammar::Term>> &rules_;
  List list_;
  uint64_t left_;
  size_t depth_ = 0;
};

/// Of each rule its own list, in which the lists of others stand: what is equal is looked at once, but a turn of it may
/// begin in the middle of what the program repeats.
std::optional<Items> rule_by_rule(const grammar::Grammar &calls, uint64_t most) {
  Numbers numbers;
  const auto &rules = calls.rules();
  std::vector<Items> made(rules.size());
  std::vector<uint64_t> sizes(rules.size());
  uint64_t work = 0;
  for (size_t rule = rules.size(); rule-- > 0;) {
    List list(&numbers);
    for (const grammar::Term &term : rules[rule]) {
      work += term.is_rule ? sizes[term.id] : 1;
      if (work > most) return std::nullopt;
      LoopItem item;
      if (!term.is_rule) {
        item.symbol = item.number = term.id;
        set_turns(&item, term.count);
        list.append(std::move(item));
        continue;
      }
      Items once = made[term.id];
      if (term.count == 1) {
        for (LoopItem &each : once) list.append(std::move(each));
        continue;
      }
      List whole(&numbers);
      for (LoopItem &each : once) whole.append(std::move(each));
      whole.close();
      once = whole.items();
      scale(&once, term.count);
      if (once.size() == 1) {
        item = std::move(once[0]);
        item.times = 1;
        set_turns(&item, item.turns);
      } else {
        item.body = std::move(once);
        item.number = numbers.of(item.body);
        set_turns(&item, term.count);
      }
      list.append(std::move(item));
    }
    if (rule == 0) list.close();
    made[rule] = list.items();
    sizes[rule] = size_of(made[rule]);
  }
  return std::move(made[0]);
}

}  // namespace

std::vector<LoopItem> loops_of(std::span<const grammar::Symbol> calls) {
  Numbers numbers;
  List list(&numbers);
  for (const grammar::Symbol call : calls) {
    LoopItem item;
    item.symbol = item.number = call;
    list.append(std::move(item));
  }
  list.close();
  return list.items();
}

std::optional<std::vector<LoopItem>> loops_of(const grammar::Grammar &calls, uint64_t most) {
  if (calls.empty()) return Items();
  constexpr uint64_t kMostCalls = uint64_t{1} << 18;
  Numbers numbers;
  if (auto items = CallByCall(calls, &numbers, std::min(most, kMostCalls)).run()) return items;
  return rule_by_rule(calls, most);
}

}  // namespace cairn::analyze
