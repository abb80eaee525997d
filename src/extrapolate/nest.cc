#include "extrapolate/nest.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace cairn::extrapolate {
namespace {

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ hash >> 29;
}

using List = std::vector<Nest>;

constexpr int kMostLengthenings = 8;  // of the turns of one list

bool same_range(const List &list, size_t a, size_t b, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if (!list[a + i].same(list[b + i])) return false;
  }
  return true;
}

/// Neighbours that are alike but for their counts become one.
void join_neighbours(List *list) {
  size_t kept = 0;
  for (size_t i = 0; i < list->size(); ++i) {
    if (kept != 0 && (*list)[kept - 1].hash == (*list)[i].hash) {
      (*list)[kept - 1].count += (*list)[i].count;
    } else {
      if (kept != i) (*list)[kept] = std::move((*list)[i]);
      ++kept;
    }
  }
  list->resize(kept);
}

/// Distances at which items come again, ascending, that enough items have for a loop of that length.
std::vector<size_t> periods(const List &list) {
  std::unordered_map<uint64_t, size_t> last;
  std::map<size_t, size_t> often;
  for (size_t i = 0; i < list.size(); ++i) {
    const auto [entry, fresh] = last.try_emplace(mixed(list[i].hash, list[i].count), i);
    if (fresh) continue;
    const size_t distance = i - std::exchange(entry->second, i);
    if (distance >= 2 && 2 * distance <= list.size()) ++often[distance];
  }
  std::vector<size_t> result;
  for (const auto &[distance, times] : often) {
    if (times * 8 >= distance) result.push_back(distance);
  }
  return result;
}

/// Whether anything was folded at this distance.
bool fold_period(List *list, size_t period) {
  List out;
  bool folded = false;
  for (size_t i = 0; i < list->size();) {
    uint64_t turns = 1;
    while (i + (turns + 1) * period <= list->size() && same_range(*list, i, i + turns * period, period)) ++turns;
    if (turns == 1) {
      out.push_back(std::move((*list)[i++]));
      continue;
    }
    const auto begin = list->begin() + static_cast<std::ptrdiff_t>(i);
    List body(std::make_move_iterator(begin), std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(period)));
    out.push_back(Nest::loop(std::move(body), turns));
    i += turns * period;
    folded = true;
  }
  *list = std::move(out);
  return folded;
}

/// Items, deep inside too.
size_t weight(const List &list) {
  size_t sum = 0;
  for (const Nest &item : list) sum += 1 + weight(item.body);
  return sum;
}

/// By how many loops are around them, and form.
using Bodies = std::map<std::pair<size_t, uint64_t>, List>;

void collect_bodies(const List &list, size_t depth, Bodies *bodies) {
  for (const Nest &item : list) {
    if (!item.is_loop()) continue;
    bodies->try_emplace({depth, item.form}, item.body);
    collect_bodies(item.body, depth + 1, bodies);
  }
}

void collect_by_hash(const List &list, std::map<uint64_t, List> *bodies) {
  for (const Nest &item : list) {
    if (!item.is_loop()) continue;
    bodies->try_emplace(item.hash, item.body);
    collect_by_hash(item.body, bodies);
  }
}

bool stands_at(const List &list, size_t at, const List &body) {
  if (at + body.size() > list.size()) return false;
  for (size_t i = 0; i < body.size(); ++i) {
    if (list[at + i].form != body[i].form) return false;
  }
  return true;
}

/// How often `body` has the forms of `part`, as loops of it or written out, and nothing else; 0: it has something else.
uint64_t turns_of(const List &body, const List &part) {
  uint64_t turns = 0;
  for (size_t at = 0; at < body.size();) {
    const Nest &item = body[at];
    if (item.is_loop() && item.body.size() == part.size() && stands_at(item.body, 0, part)) {
      turns += item.count;
      ++at;
    } else if (stands_at(body, at, part)) {
      ++turns;
      at += part.size();
    } else {
      return 0;
    }
  }
  return turns;
}

/// Wraps the body where it stands within so many loops: deeper inside it is what the turns of ranks at an edge consist
/// of, and no loop. Gives whether it did.
bool wrap(List *list, const List &body, size_t depth) {
  bool wrapped = false;
  if (depth != 0) {
    for (Nest &item : *list) {
      if (!item.is_loop() || !wrap(&item.body, body, depth - 1)) continue;
      item.describe();
      wrapped = true;
    }
    return wrapped;
  }
  // What repeats it from end to end was given that many in a turn.
  if (turns_of(*list, body) != 0) return false;
  for (size_t at = 0; at + body.size() <= list->size(); ++at) {
    if (!stands_at(*list, at, body)) continue;
    const auto begin = list->begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(body.size());
    List inner(std::make_move_iterator(begin), std::make_move_iterator(end));
    *begin = Nest::loop(std::move(inner), 1);
    list->erase(begin + 1, end);
    wrapped = true;
  }
  return wrapped;
}

/// `body` with this part in the place of each that has its form.
List with_part(const List &body, const List &part) {
  List result;
  for (size_t at = 0; at < body.size();) {
    if (body[at].is_loop() && body[at].body.size() == part.size() && stands_at(body[at].body, 0, part)) {
      result.push_back(Nest::loop(part, body[at++].count));
    } else {
      result.insert(result.end(), part.begin(), part.end());
      at += part.size();
    }
  }
  return result;
}

/// Loops whose body other lists have several times in one turn get turns as long as those. Gives whether there were
/// any.
bool lengthen_turns(List *list, const std::map<uint64_t, List> &bodies) {
  bool changed = false;
  for (Nest &item : *list) {
    if (!item.is_loop()) continue;
    changed = lengthen_turns(&item.body, bodies) || changed;
    for (const auto &[hash, body] : bodies) {
      const uint64_t turns = body.size() < 2 ? 0 : turns_of(body, item.body);
      if (turns < 2 || item.count % turns != 0) continue;
      item.body = with_part(body, item.body);
      item.count /= turns;
      changed = true;
      break;
    }
    item.describe();
  }
  return changed;
}

}  // namespace

void Nest::describe() {
  hash = mixed(1, call);
  form = mixed(2, call);
  for (const Nest &item : body) {
    hash = mixed(mixed(hash, item.hash), item.count);
    form = mixed(form, item.form);
  }
}

Nest Nest::of(uint32_t call) {
  Nest result;
  result.call = call;
  result.describe();
  return result;
}

Nest Nest::loop(std::vector<Nest> body, uint64_t count) {
  Nest result;
  result.body = std::move(body);
  result.count = count;
  result.describe();
  return result;
}

std::vector<Nest> fold(std::span<const uint32_t> calls) {
  List list;
  for (const uint32_t call : calls) {
    if (!list.empty() && list.back().call == call) {
      ++list.back().count;
    } else {
      list.push_back(Nest::of(call));
    }
  }
  for (bool folded = true; folded;) {
    folded = false;
    for (const size_t period : periods(list)) {
      folded = fold_period(&list, period);
      if (folded) break;
    }
    join_neighbours(&list);
  }
  return list;
}

void expand(const std::vector<Nest> &list, std::vector<uint32_t> *out) {
  for (const Nest &item : list) {
    for (uint64_t i = 0; i < item.count; ++i) {
      if (item.is_loop()) {
        expand(item.body, out);
      } else {
        out->push_back(item.call);
      }
    }
  }
}

void settle_turns(std::vector<std::vector<Nest>> *lists, const std::vector<size_t> &runs) {
  // Turns are as long as in lists of the same run if they can be.
  std::vector<std::map<uint64_t, List>> of_run(2);
  for (size_t i = 0; i < lists->size(); ++i) {
    if (runs[i] + 1 >= of_run.size()) of_run.resize(runs[i] + 2);
    collect_by_hash((*lists)[i], &of_run[runs[i] + 1]);
    collect_by_hash((*lists)[i], &of_run[0]);
  }
  for (size_t i = 0; i < lists->size(); ++i) {
    for (int times = 0; times < kMostLengthenings; ++times) {
      if (!lengthen_turns(&(*lists)[i], of_run[runs[i] + 1]) && !lengthen_turns(&(*lists)[i], of_run[0])) break;
    }
  }
  std::set<std::pair<size_t, uint64_t>> done;
  for (;;) {
    Bodies bodies;
    for (const List &list : *lists) collect_bodies(list, 0, &bodies);
    const std::pair<const std::pair<size_t, uint64_t>, List> *least = nullptr;
    for (const auto &entry : bodies) {
      if (entry.second.size() < 2 || done.contains(entry.first)) continue;
      if (least == nullptr || weight(entry.second) < weight(least->second)) least = &entry;
    }
    if (least == nullptr) return;
    done.insert(least->first);
    const List body = least->second;
    const size_t depth = least->first.first;
    for (List &list : *lists) wrap(&list, body, depth);
  }
}

namespace {

/// Gives the place behind the list.
size_t place_traits(List *list, size_t place, const std::function<Traits(size_t)> &of) {
  for (Nest &item : *list) {
    if (item.is_loop()) {
      const size_t turn = place_traits(&item.body, place, of) - place;
      place += turn * item.count;
    } else {
      item.traits = of(place);
      place += item.count;
    }
  }
  return place;
}

}  // namespace

void set_traits(std::vector<Nest> *list, const std::function<Traits(size_t)> &of) { place_traits(list, 0, of); }

}  // namespace cairn::extrapolate
