#include "analyze/loop_tree.h"

#include <algorithm>
#include <map>
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
    if (base_ != kNone) close_base({});
  }
  [[nodiscard]] const Items &items() const { return items_; }

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
    if (item.is_loop()) ends_[place + item.body.size()].push_back(place);
    items_.push_back(std::move(item));
  }
  LoopItem pop() {
    LoopItem item = std::move(items_.back());
    items_.pop_back();
    places_[item.number].pop_back();
    if (item.is_loop()) ends_[items_.size() + item.body.size()].pop_back();
    closed_ = std::min(closed_, items_.size());
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

  /// All items are complete; what they end in may be a loop, or one more turn.
  void find_loops() {
    for (bool found = true; found;) {
      found = false;
      if (const auto ends = ends_.find(items_.size() - 1); ends != ends_.end()) {
        for (const size_t place : ends->second) {
          if (!ends_in(items_[place].body)) continue;
          go_on(place);
          found = true;
          break;
        }
      }
      found = found || repeat();
    }
  }

  /// The items behind that loop are one more turn of it.
  void go_on(size_t place) {
    const Items turn = pop(items_.size() - 1 - place);
    LoopItem loop = pop();
    add(&loop.body, turn, Order::after);
    set_turns(&loop, loop.turns + 1);
    put_back(std::move(loop));
  }

  /// The list ends in the same items twice.
  bool repeat() {
    const size_t size = items_.size();
    const std::vector<size_t> &places = places_[items_.back().number];
    for (size_t i = 1; i < places.size() && i <= kMostCandidates; ++i) {
      const size_t length = size - 1 - places[places.size() - 1 - i];
      if (2 * length > size) return false;
      bool same = true;
      for (size_t k = 1; same && k <= length; ++k) same = items_[size - k].number == items_[size - length - k].number;
      if (!same) continue;
      const Items second = pop(length);
      LoopItem loop;
      loop.body = pop(length);
      add(&loop.body, second, Order::after);
      set_turns(&loop, 2);
      loop.number = numbers_->of(loop.body);
      put_back(std::move(loop));
      return true;
    }
    return false;
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
  size_t closed_ = 0;    ///< so many are complete: all but the last, or that as well
  size_t base_ = kNone;  ///< a loop: what is complete behind it is the begin of another turn
  std::unordered_map<uint32_t, std::vector<size_t>> places_;  ///< by number, ascending
  std::unordered_map<size_t, std::vector<size_t>> ends_;      ///< loops, by where one more turn would end
};

}  // namespace

std::optional<std::vector<LoopItem>> loops_of(const grammar::Grammar &calls, uint64_t most) {
  if (calls.empty()) return Items();
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

}  // namespace cairn::analyze
