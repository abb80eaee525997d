#include "simgrid/rounds.h"

#include <algorithm>
#include <numeric>

namespace cairn::simgrid {
namespace {

/// Of a vector whose length the trace may contradict.
uint64_t at(const std::vector<uint64_t> &amounts, size_t place) { return place < amounts.size() ? amounts[place] : 0; }

class Inside {
 public:
  Inside(const Collective &collective, const View &view, bool at_once, const EachRound &each)
      : collective_(collective),
        members_(*view.own),
        me_(view.place),
        n_(members_.size()),
        at_once_(at_once),
        each_(each) {}

  void go() {
    switch (collective_.operation) {
      case Operation::barrier:
        return disseminate([](uint64_t) { return uint64_t{0}; });
      case Operation::allreduce:
        return allreduce();
      case Operation::scan:
      case Operation::exscan:
        return scan();
      case Operation::bcast:
        return at_once_ ? from_root([&](size_t) { return collective_.bytes; }) : down_tree(false);
      case Operation::scatter:
        return at_once_ ? from_root([&](size_t) { return collective_.bytes; }) : down_tree(true);
      case Operation::reduce:
        return at_once_ ? to_root([&](size_t) { return collective_.bytes; }) : up_tree(false);
      case Operation::gather:
        return at_once_ ? to_root([&](size_t) { return collective_.bytes; }) : up_tree(true);
      case Operation::scatterv:
        return from_root([&](size_t place) { return is_root() ? at(collective_.sends, place) : collective_.bytes; });
      case Operation::gatherv:
        return to_root([&](size_t place) { return is_root() ? at(collective_.receives, place) : collective_.bytes; });
      case Operation::allgather:
        return bruck(std::vector<uint64_t>(n_, collective_.bytes));
      case Operation::allgatherv: {
        std::vector<uint64_t> blocks = collective_.receives;
        blocks.resize(n_);
        return bruck(blocks);
      }
      case Operation::reduce_scatter:
        return reduce_scatter();
      case Operation::alltoall:
        return pairwise([&](size_t) { return collective_.bytes; }, [&](size_t) { return collective_.bytes; });
      case Operation::alltoallv:
        return pairwise([&](size_t place) { return at(collective_.sends, place); },
                        [&](size_t place) { return at(collective_.receives, place); });
      case Operation::neighbors:
        return;
    }
  }

 private:
  [[nodiscard]] size_t root() const {
    const int64_t root = collective_.root.value_or(0);
    return root >= 0 && static_cast<size_t>(root) < n_ ? static_cast<size_t>(root) : 0;
  }
  [[nodiscard]] bool is_root() const { return me_ == root(); }
  [[nodiscard]] uint32_t after(size_t distance) const { return members_[(me_ + distance) % n_]; }
  [[nodiscard]] uint32_t before(size_t distance) const { return members_[(me_ + n_ - distance % n_) % n_]; }
  void exchange(uint32_t to, uint64_t sent, uint32_t from, uint64_t received) {
    each_({{to, sent}}, {{from, received}});
  }

  /// `bytes` of the distance.
  template <typename Bytes>
  void disseminate(const Bytes &bytes) {
    for (size_t distance = 1; distance < n_; distance *= 2) {
      exchange(after(distance), bytes(distance), before(distance), bytes(distance));
    }
  }
  void allreduce() {
    constexpr uint64_t kShort = uint64_t{64} << 10;
    if (collective_.bytes <= kShort) return disseminate([&](uint64_t) { return collective_.bytes; });
    std::vector<std::pair<size_t, uint64_t>> steps;
    uint64_t bytes = collective_.bytes;
    for (size_t distance = 1; distance < n_; distance *= 2) steps.emplace_back(distance, bytes /= 2);
    for (const auto &[distance, part] : steps) exchange(after(distance), part, before(distance), part);
    std::reverse(steps.begin(), steps.end());
    for (const auto &[distance, part] : steps) exchange(after(distance), part, before(distance), part);
  }
  void reduce_scatter() {
    uint64_t whole = std::accumulate(collective_.receives.begin(), collective_.receives.end(), uint64_t{0});
    if (collective_.receives.empty()) whole = collective_.bytes * n_;
    disseminate([&](uint64_t distance) { return whole / (2 * distance); });
  }
  void scan() {
    for (size_t distance = 1; distance < n_; distance *= 2) {
      std::vector<Part> sends;
      std::vector<Part> receives;
      if (me_ + distance < n_) sends.push_back({members_[me_ + distance], collective_.bytes});
      if (me_ >= distance) receives.push_back({members_[me_ - distance], collective_.bytes});
      each_(sends, receives);
    }
  }
  /// After a round of distance d a process has its own block and those of the 2d - 1 after it.
  void bruck(const std::vector<uint64_t> &blocks) {
    std::vector<uint64_t> sums{0};
    for (const uint64_t block : blocks) sums.push_back(sums.back() + block);
    const auto of = [&](size_t first, size_t count) {
      const size_t end = first + count;
      return end <= n_ ? sums[end] - sums[first] : sums[n_] - sums[first] + sums[end - n_];
    };
    for (size_t distance = 1; distance < n_; distance *= 2) {
      const size_t count = std::min(distance, n_ - distance);
      exchange(before(distance), of(me_, count), after(distance), of((me_ + distance) % n_, count));
    }
  }
  template <typename Sent, typename Received>
  void pairwise(const Sent &sent, const Received &received) {
    for (size_t k = 1; k < n_; ++k) {
      const size_t to = (me_ + k) % n_;
      const size_t from = (me_ + n_ - k) % n_;
      exchange(members_[to], sent(to), members_[from], received(from));
    }
  }
  template <typename Bytes>
  void from_root(const Bytes &bytes) {
    if (!is_root()) return each_({}, {{members_[root()], bytes(me_)}});
    each_(others(bytes), {});
  }
  template <typename Bytes>
  void to_root(const Bytes &bytes) {
    if (!is_root()) return each_({{members_[root()], bytes(me_)}}, {});
    each_({}, others(bytes));
  }
  template <typename Bytes>
  std::vector<Part> others(const Bytes &bytes) {
    std::vector<Part> all;
    for (size_t place = 0; place < n_; ++place) {
      if (place != me_) all.push_back({members_[place], bytes(place)});
    }
    return all;
  }

  /// A binomial tree by distances from the root: process v has the children v + d, for powers d of two below v's lowest
  /// bit, and child v + d stands for d processes, or as many as there are.
  struct Tree {
    std::vector<std::pair<size_t, uint64_t>> children;  ///< nearest first; how many processes each stands for
    size_t lowest = 0;                                  ///< the parent is v - lowest; 0 of the root
    uint64_t size = 1;
  };
  [[nodiscard]] Tree tree() const {
    Tree made;
    const size_t v = (me_ + n_ - root()) % n_;
    made.lowest = v & (~v + 1);
    for (size_t distance = 1; v + distance < n_ && (v == 0 || distance < made.lowest); distance *= 2) {
      made.children.emplace_back(distance, std::min<uint64_t>(distance, n_ - v - distance));
      made.size += made.children.back().second;
    }
    return made;
  }
  void down_tree(bool blocks) {
    const Tree made = tree();
    const auto bytes = [&](uint64_t size) { return blocks ? collective_.bytes * size : collective_.bytes; };
    if (made.lowest != 0) each_({}, {{before(made.lowest), bytes(made.size)}});
    for (auto child = made.children.rbegin(); child != made.children.rend(); ++child) {
      each_({{after(child->first), bytes(child->second)}}, {});
    }
  }
  void up_tree(bool blocks) {
    const Tree made = tree();
    const auto bytes = [&](uint64_t size) { return blocks ? collective_.bytes * size : collective_.bytes; };
    for (const auto &[distance, size] : made.children) each_({}, {{after(distance), bytes(size)}});
    if (made.lowest != 0) each_({{before(made.lowest), bytes(made.size)}}, {});
  }

  const Collective &collective_;
  const std::vector<uint32_t> &members_;
  const size_t me_;
  const size_t n_;
  const bool at_once_;
  const EachRound &each_;
};

/// Between two groups: what each gives each of the other side, in one round.
void across(const Collective &collective, const View &view, const EachRound &each) {
  const std::vector<uint32_t> &other = *view.other;
  std::vector<Part> sends;
  std::vector<Part> receives;
  const bool down = collective.operation == Operation::bcast || collective.operation == Operation::scatter ||
                    collective.operation == Operation::scatterv;
  const bool up = collective.operation == Operation::reduce || collective.operation == Operation::gather ||
                  collective.operation == Operation::gatherv;
  if (collective.aside) return;
  uint64_t whole = std::accumulate(collective.receives.begin(), collective.receives.end(), uint64_t{0});
  if (collective.receives.empty()) whole = collective.bytes * view.own->size();
  const bool both = collective.operation == Operation::allgather || collective.operation == Operation::alltoall;
  for (size_t place = 0; place < other.size(); ++place) {
    uint64_t sent = collective.sends.empty() ? collective.bytes : at(collective.sends, place);
    uint64_t received = both ? collective.received : collective.bytes;
    if (!collective.receives.empty()) received = at(collective.receives, place);
    if (collective.operation == Operation::reduce_scatter) {  // the whole is the same on both sides
      sent = whole / other.size();
      received = whole / view.own->size();
    }
    if (down || up) {
      const bool with_root = collective.root && *collective.root >= 0 && static_cast<size_t>(*collective.root) == place;
      if (!collective.is_root && !with_root) continue;
      const bool gives = down == collective.is_root;
      (gives ? sends : receives).push_back({other[place], gives ? sent : received});
    } else {
      sends.push_back({other[place], sent});
      receives.push_back({other[place], received});
    }
  }
  each(sends, receives);
}

}  // namespace

void rounds_of(const Collective &collective, const View &view, bool at_once, const EachRound &each) {
  if (view.other != nullptr) return across(collective, view, each);
  Inside(collective, view, at_once, each).go();
}

}  // namespace cairn::simgrid
