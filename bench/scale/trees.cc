// Programs with a root, and those of collective calls alone.
#include <algorithm>

#include "scale/chance.h"
#include "scale/patterns.h"

namespace cairn::scale {
namespace {

/// Point to point, every rank to rank 0 and back: what some programs do at their start and end.
void flat_gather(Script &s, Script::Place place) {
  if (s.rank() != 0) {
    s.send(place, {stack(8), 4, kInt}, 0, 77);
    s.recv(place + 1, {stack(40), 1, kInt}, 0, 78);
    return;
  }
  for (uint32_t other = 1; other < s.size(); ++other) s.recv(place + 2, {s.heap(1), 4, kInt}, other, 77);
  for (uint32_t other = 1; other < s.size(); ++other) s.send(place + 3, {stack(40), 1, kInt}, other, 78);
}

void gather_flat(Script &s, const Setting &setting) {
  s.init(1);
  s.loop(setting.steps, [&] { flat_gather(s, 10); });
  s.finalize(20);
}

void binomial_gather(Script &s, Script::Place place) {
  for (uint64_t step = 1; step < s.size(); step *= 2) {
    if ((s.rank() & step) != 0) {
      s.send(place, {s.heap(1), 64}, s.rank() - static_cast<Atom>(step), 5);
      return;
    }
    if (s.rank() + step < s.size()) s.recv(place + 1, {s.heap(2), 64}, s.rank() + static_cast<Atom>(step), 5);
  }
}

void gather_binomial(Script &s, const Setting &setting) {
  s.init(1);
  s.loop(setting.steps, [&] { binomial_gather(s, 10); });
  s.finalize(20);
}

/// Nek5000's FDLF (Pilgrim section 4.3.2): rank 0 talks to everyone at the start and at the end; in between a gather
/// and a scatter over a tree that halves ranges of ranks (its figure 11), and an exchange with many irregular partners.
class Fdlf {
 public:
  Fdlf(Script *script, uint64_t partners) : s_(*script) {
    const uint32_t ranks = s_.size();
    for (uint64_t k = 0; k < partners / 2 && ranks > 1; ++k) {
      const Permutation permutation(ranks, 1000 + k);
      for (const uint32_t other : {permutation.forth(s_.rank()), permutation.back(s_.rank())}) {
        if (other != s_.rank()) partners_.push_back(other);
      }
    }
    std::sort(partners_.begin(), partners_.end());
    partners_.erase(std::unique(partners_.begin(), partners_.end()), partners_.end());
  }

  void run(uint64_t steps) {
    s_.init(1);
    flat_gather(s_, 10);
    s_.loop(steps, [&] {
      if (!partners_.empty()) exchange();
      tree(true);
      tree(false);
    });
    flat_gather(s_, 50);
    s_.finalize(60);
  }

 private:
  /// Both ends agree on how much they share.
  [[nodiscard]] Atom shared(uint32_t other) const {
    const uint64_t low = std::min(s_.rank(), other);
    const uint64_t high = std::max(s_.rank(), other);
    return 1 + below(chance(low, high, 5), 96);
  }

  void exchange() {
    std::vector<Handle> requests;
    Atom offset = 0;
    for (const uint32_t other : partners_) {
      requests.push_back(s_.irecv(20, {s_.heap(1, offset), shared(other)}, other, other));
      offset += 8 * shared(other);
    }
    offset = 0;
    for (const uint32_t other : partners_) {
      requests.push_back(s_.isend(21, {s_.heap(2, offset), shared(other)}, other, s_.rank()));
      offset += 8 * shared(other);
    }
    s_.waitall(22, requests);
  }

  void tree(bool gather) {
    struct Link {
      uint32_t parent;
      uint32_t child;
    };
    std::vector<Link> links;  // of this rank, from the root down
    uint32_t first = 0;
    uint32_t count = s_.size();
    while (count > 1) {
      const uint32_t half = (count + 1) / 2;
      if (s_.rank() == first || s_.rank() == first + half) links.push_back({first, first + half});
      const bool lower = s_.rank() < first + half;
      if (!lower) first += half;
      count = lower ? half : count - half;
    }
    if (gather) std::reverse(links.begin(), links.end());
    for (const Link &link : links) {
      const bool parent = link.parent == s_.rank();
      const Atom peer = parent ? link.child : link.parent;
      if (parent == gather) {
        s_.recv(30, {s_.heap(3), 8}, peer, 9);
      } else {
        s_.send(31, {s_.heap(4), 8}, peer, 9);
      }
    }
  }

  Script &s_;
  std::vector<uint32_t> partners_;
};

void collectives(Script &s, const Setting &setting) {
  s.init(1);
  s.bcast(4, {stack(8), 4, kInt});
  s.loop(setting.steps, [&] {
    s.alltoall(10, {s.heap(1), 256}, {s.heap(2), 256});
    s.reduce(11, stack(48), {stack(32), 2}, kSum);
  });
  s.barrier(12);
  s.finalize(13);
}

}  // namespace

void add_trees(std::vector<Pattern> *to) {
  to->push_back({"gather-flat", "rank 0 receives from everyone and answers, in loops", 0, gather_flat});
  to->push_back({"gather-binomial", "a gather along a binomial tree", 0, gather_binomial});
  const auto fdlf = [](Script &script, const Setting &setting) { Fdlf(&script, 256).run(setting.steps); };
  const auto fdlf_tree = [](Script &script, const Setting &setting) { Fdlf(&script, 0).run(setting.steps); };
  to->push_back({"fdlf", "a root, a tree, and some 256 irregular partners a rank", 0, fdlf});
  to->push_back({"fdlf-tree", "the same without the irregular partners", 0, fdlf_tree});
  to->push_back({"collectives", "Alltoall and Reduce alone, as in FT", 0, collectives});
}

}  // namespace cairn::scale
