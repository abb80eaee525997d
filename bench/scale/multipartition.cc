// Multipartition, as in NAS BT and SP (Bruno & Cappello): on p * p ranks every rank has p cells, one in each slab of
// every direction, and solves along x, y and z in p stages forth and back.
#include "scale/patterns.h"

namespace cairn::scale {
namespace {

constexpr Atom kGrid = 162;  // points along each side, class C

class Multipartition {
 public:
  Multipartition(Script *script, uint32_t ranks, bool cell_tags, bool cell_sizes)
      : s_(*script),
        p_(square_root(ranks)),
        i_(script->rank() % p_),
        j_(script->rank() / p_),
        cell_tags_(cell_tags),
        cell_sizes_(cell_sizes) {}

  void run(uint64_t steps) {
    s_.init(1);
    comm_solve_ = s_.comm_dup(4, kWorld);
    comm_faces_ = s_.comm_dup(5, kWorld);
    for (Atom k = 0; k < 4; ++k) s_.bcast(6, {global(16 * k), 1, kInt});
    s_.loop(steps, [&] {
      if (p_ > 1) copy_faces();
      for (uint32_t direction = 0; direction < 3; ++direction) solve(direction);
    });
    s_.reduce(8, stack(32), {stack(24)}, kMax);
    s_.finalize(9);
  }

 private:
  [[nodiscard]] uint32_t around(int64_t value) const { return static_cast<uint32_t>((value % p_ + p_) % p_); }
  [[nodiscard]] Atom successor(uint32_t direction, int64_t sign) const {
    const int64_t i = direction == 0 ? sign : direction == 1 ? 0 : -sign;
    const int64_t j = direction == 0 ? 0 : sign;
    return around(i_ + i) + Atom{p_} * around(j_ + j);
  }
  /// Cell c's place in each direction.
  [[nodiscard]] std::array<uint32_t, 3> cell(uint32_t c) const {
    return {around(Atom{i_} + c), around(Atom{j_} - c), c};
  }
  /// The first slabs are one point thicker where the grid does not divide.
  [[nodiscard]] Atom thickness(uint32_t slab) const { return kGrid / p_ + (slab < kGrid % p_ ? 1 : 0) + 1; }

  void copy_faces() {
    std::vector<Handle> requests;
    for (uint32_t n = 0; n < 6; ++n) {
      requests.push_back(s_.irecv(20, {s_.heap(1, 2560 * Atom{n}), faces(n)}, successor(n / 2, n % 2 == 0 ? 1 : -1),
                                  1000 * (2 + Atom{n ^ 1}), comm_faces_));
    }
    for (uint32_t n = 0; n < 6; ++n) {
      requests.push_back(s_.isend(21, {s_.heap(2, 2560 * Atom{n}), faces(n)}, successor(n / 2, n % 2 == 0 ? 1 : -1),
                                  1000 * (2 + Atom{n}), comm_faces_));
    }
    s_.waitall(22, requests);
  }
  [[nodiscard]] Atom faces(uint32_t n) const {
    if (!cell_sizes_) return 10 * (kGrid / p_ + 1) * (kGrid / p_ + 1) * p_;
    Atom sum = 0;
    for (uint32_t c = 0; c < p_; ++c) {
      const auto at = cell(c);
      sum += 10 * thickness(at[(n / 2 + 1) % 3]) * thickness(at[(n / 2 + 2) % 3]);
    }
    return sum;
  }

  void solve(uint32_t direction) {
    // Cells in the order of their slabs in this direction.
    std::vector<std::array<uint32_t, 3>> cells(p_);
    for (uint32_t c = 0; c < p_; ++c) cells[cell(c)[direction]] = cell(c);
    for (uint32_t stage = 0; stage < p_; ++stage) {
      if (stage != 0) receive(direction, -1, cells[stage], 22, 40);
      if (stage + 1 != p_) post(direction, 1, cells[stage], 22, 40);
    }
    for (uint32_t stage = p_; stage-- > 0;) {
      if (stage + 1 != p_) receive(direction, 1, cells[stage], 10, 50);
      if (stage != 0) post(direction, -1, cells[stage], 10, 50);
    }
  }
  void receive(uint32_t direction, int64_t from, const std::array<uint32_t, 3> &at, Atom words, Script::Place place) {
    const Handle request = s_.irecv(place, {s_.heap(3), size(direction, at, words)}, successor(direction, from),
                                    tag(direction, -from, at), comm_solve_);
    s_.wait(place + 1, request);
  }
  void post(uint32_t direction, int64_t to, const std::array<uint32_t, 3> &at, Atom words, Script::Place place) {
    const Handle request = s_.isend(place + 2, {s_.heap(4), size(direction, at, words)}, successor(direction, to),
                                    tag(direction, to, at), comm_solve_);
    s_.wait(place + 3, request);
  }
  [[nodiscard]] Atom size(uint32_t direction, const std::array<uint32_t, 3> &at, Atom words) const {
    if (!cell_sizes_) return words * (kGrid / p_ + 1) * (kGrid / p_ + 1);
    return words * thickness(at[(direction + 1) % 3]) * thickness(at[(direction + 2) % 3]);
  }
  /// BT's tags hold the place of the cell in the two other directions, which both ends know.
  [[nodiscard]] Atom tag(uint32_t direction, int64_t towards, const std::array<uint32_t, 3> &at) const {
    if (!cell_tags_) return 0;
    const Atom base = 1000000 * (2 + 2 * Atom{direction} + (towards > 0 ? 0 : 1));
    return base + at[(direction + 1) % 3] + Atom{p_} * at[(direction + 2) % 3];
  }

  Script &s_;
  uint32_t p_;
  uint32_t i_;
  uint32_t j_;
  bool cell_tags_;
  bool cell_sizes_;
  Atom comm_solve_ = 0;
  Atom comm_faces_ = 0;
};

}  // namespace

void add_multipartition(std::vector<Pattern> *to) {
  const auto with = [](bool cell_tags, bool cell_sizes) {
    return [cell_tags, cell_sizes](Script &script, const Setting &setting) {
      Multipartition(&script, setting.ranks, cell_tags, cell_sizes).run(setting.steps);
    };
  };
  to->push_back({"bt", "multipartition, tags name cells: another row a stage", 0, with(true, false), true});
  to->push_back({"bt-onetag", "multipartition with one tag and one size", 0, with(false, false), true});
  to->push_back({"sp", "multipartition, message sizes in another order on every rank", 0, with(false, true), true});
}

}  // namespace cairn::scale
