#include "analyze/alike_kinds.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/summary.h"

namespace cairn::analyze {
namespace {

/// A loop, or a call, with what is compared of it.
struct Shape {
  Loop *loop = nullptr;
  LoopItem *item = nullptr;
  std::vector<uint32_t> places;  ///< of all calls in it that are told, ascending
  std::vector<Shape> inner;      ///< by their places
  double turns = 0;              ///< of all ranks
  double times = 0;
};

class Shapes {
 public:
  explicit Shapes(KindOfRank *kind) : kind_(*kind), mpi_ns_(mpi_ns_of(*kind)) {
    all_ = inner_of(&kind->all, &kind->items, true);
  }
  [[nodiscard]] std::vector<Shape> &all() { return all_; }

  /// Equal of kinds that are alike.
  [[nodiscard]] std::vector<uint32_t> key() const {
    std::vector<uint32_t> key = {kind_.thread};
    add_to(&key, all_);
    return key;
  }

 private:
  std::vector<Shape> inner_of(Loop *outer, std::vector<LoopItem> *items, bool outermost) {
    assert(outer->body.size() == items->size());
    std::vector<Shape> shapes;
    for (size_t i = 0; i < items->size(); ++i) {
      Loop &loop = outer->body[i];
      LoopItem &item = (*items)[i];
      if (!is_told(loop, kind_, mpi_ns_) || (outermost && loop.is_call() && item.most == 1)) continue;
      Shape shape;
      shape.loop = &loop;
      shape.item = &item;
      shape.inner = inner_of(&loop, &item.body, false);
      std::set<uint32_t> places;
      if (!item.is_loop()) places.insert(item.symbol);
      for (const Shape &each : shape.inner) places.insert(each.places.begin(), each.places.end());
      shape.places.assign(places.begin(), places.end());
      const auto ranks = static_cast<double>(kind_.ranks.size());
      shape.turns = ranks * static_cast<double>(item.turns);
      shape.times = ranks * static_cast<double>(item.times);
      shapes.push_back(std::move(shape));
    }
    std::stable_sort(shapes.begin(), shapes.end(), [](const Shape &a, const Shape &b) { return a.places < b.places; });
    return shapes;
  }
  static void add_to(std::vector<uint32_t> *key, const std::vector<Shape> &shapes) {
    key->push_back(static_cast<uint32_t>(shapes.size()));
    for (const Shape &shape : shapes) {
      key->push_back(static_cast<uint32_t>(shape.places.size()));
      key->insert(key->end(), shape.places.begin(), shape.places.end());
      add_to(key, shape.inner);
    }
  }

  const KindOfRank &kind_;
  uint64_t mpi_ns_;
  std::vector<Shape> all_;
};

void add(const Loop &from, Loop *to) {
  to->calls += from.calls;
  to->bytes += from.bytes;
  to->unsized_calls += from.unsized_calls;
  to->time_ns = to->time_ns && from.time_ns ? std::optional(*to->time_ns + *from.time_ns) : std::nullopt;
  to->further_turns = std::max(to->further_turns, from.further_turns);
}

void add(const std::vector<Shape> &from, std::vector<Shape> *to) {
  assert(from.size() == to->size());
  for (size_t i = 0; i < from.size(); ++i) {
    Shape &sum = (*to)[i];
    add(*from[i].loop, sum.loop);
    sum.turns += from[i].turns;
    sum.times += from[i].times;
    sum.item->least = std::min(sum.item->least, from[i].item->least);
    sum.item->most = std::max(sum.item->most, from[i].item->most);
    add(from[i].inner, &sum.inner);
  }
}

uint64_t mean(double sum, size_t ranks) {
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(sum / static_cast<double>(ranks))));
}

void take_means(const std::vector<Shape> &shapes, size_t ranks) {
  for (const Shape &shape : shapes) {
    shape.item->turns = mean(shape.turns, ranks);
    shape.item->times = mean(shape.times, ranks);
    take_means(shape.inner, ranks);
  }
}

/// What was called at each place. Both have the places of one trace.
void add_places(const KindOfRank &from, KindOfRank *to, std::vector<double> *visits) {
  assert(from.places.size() == to->places.size());
  for (size_t i = 0; i < from.places.size(); ++i) {
    LoopPlace &sum = to->places[i];
    const LoopPlace &more = from.places[i];
    (*visits)[i] += static_cast<double>(more.visits) * static_cast<double>(from.ranks.size());
    sum.timed = (sum.timed || sum.calls == 0) && (more.timed || more.calls == 0);
    sum.calls += more.calls;
    sum.bytes += more.bytes;
    sum.unsized_calls += more.unsized_calls;
    sum.time_ns += more.time_ns;
  }
}

double calls_of_rank(const KindOfRank &kind) { return kind.all.calls / static_cast<double>(kind.ranks.size()); }

AlikeKinds joined(std::vector<KindOfRank> *kinds, const std::vector<size_t> &members) {
  AlikeKinds result = by_itself(std::move((*kinds)[members[0]]));
  if (members.size() == 1) return result;
  KindOfRank &sum = result.kind;
  result.kinds = members.size();
  Shapes shapes(&sum);
  std::vector<double> visits;
  for (const LoopPlace &place : sum.places) {
    visits.push_back(static_cast<double>(place.visits) * static_cast<double>(sum.ranks.size()));
  }
  for (size_t i = 1; i < members.size(); ++i) {
    KindOfRank &more = (*kinds)[members[i]];
    result.least_calls = std::min(result.least_calls, calls_of_rank(more));
    result.most_calls = std::max(result.most_calls, calls_of_rank(more));
    add(Shapes(&more).all(), &shapes.all());
    add(more.all, &sum.all);
    add_places(more, &sum, &visits);
    sum.ranks.insert(sum.ranks.end(), more.ranks.begin(), more.ranks.end());
  }
  std::sort(sum.ranks.begin(), sum.ranks.end());
  take_means(shapes.all(), sum.ranks.size());
  for (size_t i = 0; i < visits.size(); ++i) {
    if (visits[i] > 0) sum.places[i].visits = mean(visits[i], sum.ranks.size());
  }
  return result;
}

}  // namespace

AlikeKinds by_itself(KindOfRank kind) {
  const double calls = calls_of_rank(kind);
  return {std::move(kind), 1, calls, calls};
}

uint64_t mpi_ns_of(const KindOfRank &kind) {
  uint64_t sum = 0;
  for (const LoopPlace &place : kind.places) sum += place.timed && !is_apart(place.function) ? place.time_ns : 0;
  return sum;
}

bool is_told(const Loop &loop, const KindOfRank &kind, uint64_t mpi_ns) {
  return loop.calls >= kTold * kind.all.calls || loop.time_ns.value_or(0) >= kTold * static_cast<double>(mpi_ns);
}

std::vector<AlikeKinds> join_alike(std::vector<KindOfRank> kinds) {
  std::map<std::vector<uint32_t>, std::vector<size_t>> alike;
  for (size_t i = 0; i < kinds.size(); ++i) {
    Shapes shapes(&kinds[i]);
    std::vector<uint32_t> key = shapes.key();
    if (shapes.all().empty()) key.push_back(static_cast<uint32_t>(i));  // nothing says that it is like another
    alike[std::move(key)].push_back(i);
  }
  std::vector<AlikeKinds> result;
  result.reserve(alike.size());
  for (const auto &[key, members] : alike) result.push_back(joined(&kinds, members));
  std::stable_sort(result.begin(), result.end(), [](const AlikeKinds &a, const AlikeKinds &b) {
    if (a.kind.ranks.size() != b.kind.ranks.size()) return a.kind.ranks.size() > b.kind.ranks.size();
    return std::tie(a.kind.ranks.front(), a.kind.thread) < std::tie(b.kind.ranks.front(), b.kind.thread);
  });
  return result;
}

}  // namespace cairn::analyze
