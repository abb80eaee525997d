#include "analyze/logical_clock.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

namespace cairn::analyze {
namespace {

using trace::Knot;
using trace::Knots;

/// Rounded up.
uint64_t worn_off(uint64_t ns) { return ns / kControl + (ns % kControl != 0 ? 1 : 0); }

/// A shift that wears off takes so long for it; what takes longer than a run can last does not wear off.
bool wears_off(uint64_t at_ns, uint64_t shift_ns) { return shift_ns <= (Knots::kMost - at_ns) / kControl; }

/// Where a rank's arrivals were moved to.
class Forward {
 public:
  /// Moves what is at `at_ns` and later, to `shift_ns` there. False where something later was moved already.
  bool jump(uint64_t at_ns, uint64_t shift_ns) {
    if (at_ns > Knots::kMost || shift_ns > Knots::kMost) return false;
    const uint64_t before = at_ns == 0 ? 0 : shifts_.of(at_ns - 1);
    if (jumps_.empty() || jumps_.back().at_ns < at_ns) {
      end_at(at_ns);
      jumps_.push_back({at_ns, 0});
    } else if (jumps_.back().at_ns > at_ns) {
      return false;
    }
    shifts_.cut(at_ns);
    jumps_.back().height_ns = shift_ns - std::min(before, shift_ns);
    shift_ = shift_ns;
    shifts_.add({at_ns, shift_ns});
    if (wears_off(at_ns, shift_ns)) shifts_.add({at_ns + kControl * shift_ns, 0});
    return true;
  }

  struct Jump {
    uint64_t at_ns = 0;
    uint64_t height_ns = 0;  ///< more than a ns before
  };
  [[nodiscard]] const std::vector<Jump> &jumps() const { return jumps_; }
  [[nodiscard]] const Knots &shifts() const { return shifts_; }

 private:
  /// What the last jump left stays as it is before this moment, to the ns.
  void end_at(uint64_t at_ns) {
    if (shifts_.all().empty() || at_ns == 0) return;
    const uint64_t last = shifts_.of(at_ns - 1);
    const uint64_t since = jumps_.back().at_ns;
    shifts_.cut(at_ns);
    if (last != 0 && wears_off(since, shift_)) shifts_.add({since + kControl * (shift_ - last), last});
    shifts_.add({at_ns - 1, last});
  }

  Knots shifts_;
  std::vector<Jump> jumps_;
  uint64_t shift_ = 0;  ///< right after the last
};

/// What leads up to the jumps of a rank.
class Backward {
 public:
  explicit Backward(const std::vector<Forward::Jump> &jumps) {
    uint64_t last = 0;
    for (const Forward::Jump &jump : jumps) {
      Ramp ramp;
      ramp.end_ns = jump.at_ns;
      ramp.height_ns = jump.height_ns;
      ramp.begin_ns = last;
      if (wears_off(0, jump.height_ns) && kControl * jump.height_ns + 1 < jump.at_ns) {
        ramp.begin_ns = std::max(last, jump.at_ns - kControl * jump.height_ns - 1);
      }
      ramps_.push_back(std::move(ramp));
      last = jump.at_ns;
    }
  }

  /// What begins then may be moved by so much, and no further.
  void limit(uint64_t at_ns, uint64_t most_ns) {
    const auto ramp = std::upper_bound(ramps_.begin(), ramps_.end(), at_ns,
                                       [](uint64_t at, const Ramp &each) { return at < each.end_ns; });
    if (ramp == ramps_.end() || at_ns < ramp->begin_ns || most_ns >= ramp->height_ns) return;
    ramp->limits.push_back({at_ns, most_ns});
  }

  [[nodiscard]] Knots shifts() {
    std::vector<Knot> all;
    // One that begins where the last one ends goes on from there.
    const auto add = [&all](Knot knot) {
      if (!all.empty() && all.back().at_ns == knot.at_ns) all.pop_back();
      all.push_back(knot);
    };
    for (Ramp &ramp : ramps_) {
      for (const Knot &knot : knots_of(&ramp)) add(knot);
      add({ramp.end_ns, 0});
    }
    Knots shifts;
    for (const Knot &knot : all) shifts.add(knot);
    return shifts;
  }

 private:
  struct Ramp {
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;  ///< of the jump
    uint64_t height_ns = 0;
    std::vector<Knot> limits;
  };

  /// In order. From the jump back, always along the steepest line that no limit forbids.
  static std::vector<Knot> knots_of(Ramp *ramp) {
    if (ramp->end_ns <= ramp->begin_ns) return {};
    std::sort(ramp->limits.begin(), ramp->limits.end(), [](const Knot &a, const Knot &b) { return a.at_ns > b.at_ns; });
    std::vector<Knot> knots = {{ramp->end_ns - 1, ramp->height_ns}};
    const auto line = [&knots](uint64_t at_ns) {
      return knots.back().shift_ns - std::min(knots.back().shift_ns, worn_off(knots.back().at_ns - at_ns));
    };
    for (const Knot &limit : ramp->limits) {
      if (limit.shift_ns >= line(limit.at_ns)) continue;
      if (knots.back().at_ns == limit.at_ns) knots.pop_back();
      knots.push_back(limit);
    }
    const Knot last = knots.back();
    if (last.shift_ns != 0) {
      const bool ends = last.shift_ns <= (last.at_ns - ramp->begin_ns) / kControl;
      const uint64_t at = ends ? last.at_ns - kControl * last.shift_ns : ramp->begin_ns;
      if (at < last.at_ns) knots.push_back({at, line(at)});
    }
    // What lies between the ramp's begin and its foot stays where it is.
    if (knots.back().at_ns > ramp->begin_ns && knots.back().shift_ns == 0) knots.push_back({ramp->begin_ns, 0});
    std::reverse(knots.begin(), knots.end());
    return knots;
  }

  std::vector<Ramp> ramps_;
};

/// One rank's clock.
struct Clock {
  uint64_t begin_ns = 0;
  uint64_t uncertainty_ns = 0;
  Forward forward;
  std::unique_ptr<Backward> backward;
  trace::RankShift shift;
};

/// Where a call of a rank began or ended.
struct Moment {
  uint32_t rank = 0;
  uint64_t ns = 0;
};
Moment begin_of(const CallTime &call) { return {call.rank, call.begin_ns}; }
Moment end_of(const CallTime &call) { return {call.rank, call.end_ns}; }

/// What the three replays share.
class Clocks {
 public:
  explicit Clocks(const std::vector<RankStart> &ranks) {
    clocks_.reserve(ranks.size());
    for (const RankStart &rank : ranks) {
      by_rank_.emplace(rank.rank, clocks_.size());
      clocks_.push_back({});
      clocks_.back().begin_ns = rank.ns;
      clocks_.back().uncertainty_ns = rank.uncertainty_ns;
    }
  }
  [[nodiscard]] Clock &of(uint32_t rank) { return clocks_[by_rank_.at(rank)]; }
  [[nodiscard]] std::vector<Clock> &all() { return clocks_; }

  /// Since the rank's begin.
  [[nodiscard]] uint64_t own(const Moment &moment) {
    const uint64_t begin = of(moment.rank).begin_ns;
    return moment.ns < begin ? 0 : moment.ns - begin;
  }
  /// On the axis, with what forward corrections say so far.
  [[nodiscard]] uint64_t forward(const Moment &moment) {
    return moment.ns + of(moment.rank).forward.shifts().of(own(moment));
  }
  [[nodiscard]] uint64_t shift(const Moment &moment) { return of(moment.rank).shift.of(own(moment)); }

 private:
  std::vector<Clock> clocks_;
  std::unordered_map<uint32_t, size_t> by_rank_;
};

/// The greatest of what `value` says of those that somebody waited for; 0 if they are none.
template <typename Value>
uint64_t latest(const Meeting &meeting, const std::vector<uint32_t> &from, const Value &value) {
  uint64_t found = 0;
  for (const uint32_t place : from) found = std::max(found, value(begin_of(meeting.begins[place])));
  if (from.empty()) {
    for (const CallTime &begin : meeting.begins) found = std::max(found, value(begin_of(begin)));
  }
  return found;
}

/// Of meetings that all wait for all of: what it costs all ranks to find out, kept until it is over.
class LatestOfAll {
 public:
  template <typename Value>
  uint64_t of(const Meeting &meeting, const std::vector<uint32_t> &from, const Value &value) {
    if (!from.empty()) return latest(meeting, from, value);
    const auto [found, fresh] = known_.try_emplace(meeting.number);
    if (fresh) found->second = latest(meeting, from, value);
    return found->second;
  }
  void forget(const Meeting &meeting) { known_.erase(meeting.number); }

 private:
  std::unordered_map<uint64_t, uint64_t> known_;
};

class ForwardPass : public Arrivals {
 public:
  ForwardPass(Clocks *clocks, trace::Corrections *made) : clocks_(*clocks), made_(*made) {}

  void message(const Edge &edge) override {
    const Moment from = begin_of(edge.from);
    arrived(from.ns, earliest(from), clocks_.forward(from), end_of(edge.to));
  }
  void left(const Meeting &meeting, const std::vector<uint32_t> &from, const CallTime &to) override {
    const uint64_t measured = measured_.of(meeting, from, [](const Moment &begin) { return begin.ns; });
    const uint64_t sure = sure_.of(meeting, from, [&](const Moment &begin) { return earliest(begin); });
    const uint64_t moved = moved_.of(meeting, from, [&](const Moment &begin) { return clocks_.forward(begin); });
    arrived(measured, sure, moved, end_of(to));
  }
  void over(const Meeting &meeting) override {
    measured_.forget(meeting);
    sure_.forget(meeting);
    moved_.forget(meeting);
  }

 private:
  /// When it may have been.
  [[nodiscard]] uint64_t earliest(const Moment &moment) {
    return moment.ns - std::min(moment.ns, clocks_.of(moment.rank).uncertainty_ns);
  }
  void arrived(uint64_t measured_ns, uint64_t sure_ns, uint64_t sent_ns, const Moment &to) {
    ++made_.arrivals;
    if (measured_ns > to.ns) ++made_.reversed;
    if (sure_ns > to.ns && sure_ns - to.ns > clocks_.of(to.rank).uncertainty_ns) ++made_.doubtless;
    if (sent_ns > clocks_.forward(to)) clocks_.of(to.rank).forward.jump(clocks_.own(to), sent_ns - to.ns);
  }

  Clocks &clocks_;
  trace::Corrections &made_;
  LatestOfAll measured_;
  LatestOfAll sure_;
  LatestOfAll moved_;
};

class BackwardPass : public Arrivals {
 public:
  explicit BackwardPass(Clocks *clocks) : clocks_(*clocks) {
    for (Clock &clock : clocks_.all()) clock.backward = std::make_unique<Backward>(clock.forward.jumps());
  }

  void message(const Edge &edge) override { limit(begin_of(edge.from), clocks_.forward(end_of(edge.to))); }
  void left(const Meeting &meeting, const std::vector<uint32_t> &from, const CallTime &to) override {
    Ends &ends = ends_[meeting.number];
    const uint64_t end = clocks_.forward(end_of(to));
    if (from.empty()) ends.first = std::min(ends.first, end);
    for (const uint32_t place : from) {
      uint64_t &own = ends.own.try_emplace(place, UINT64_MAX).first->second;
      own = std::min(own, end);
    }
  }
  void over(const Meeting &meeting) override {
    const auto found = ends_.find(meeting.number);
    if (found == ends_.end()) return;
    const Ends &ends = found->second;
    for (uint32_t place = 0; place < meeting.begins.size(); ++place) {
      const auto own = ends.own.find(place);
      const uint64_t end = std::min(ends.first, own == ends.own.end() ? UINT64_MAX : own->second);
      const Moment begin = begin_of(meeting.begins[place]);
      if (end != UINT64_MAX && begin.ns != 0) limit(begin, end);
    }
    ends_.erase(found);
  }

 private:
  /// The first that anybody left what they were awaited in.
  struct Ends {
    uint64_t first = UINT64_MAX;
    std::unordered_map<uint32_t, uint64_t> own;  ///< by place
  };
  void limit(const Moment &from, uint64_t arrived_ns) {
    const uint64_t began = clocks_.forward(from);
    clocks_.of(from.rank).backward->limit(clocks_.own(from), arrived_ns - std::min(began, arrived_ns));
  }

  Clocks &clocks_;
  std::unordered_map<uint64_t, Ends> ends_;
};

class Check : public Arrivals {
 public:
  Check(Clocks *clocks, trace::Corrections *made) : clocks_(*clocks), made_(*made) {}

  void message(const Edge &edge) override {
    const Moment from = begin_of(edge.from);
    const uint64_t shift = clocks_.shift(from);
    arrived(from.ns + shift, shift, end_of(edge.to));
  }
  void left(const Meeting &meeting, const std::vector<uint32_t> &from, const CallTime &to) override {
    const uint64_t shift = shift_.of(meeting, from, [&](const Moment &begin) { return clocks_.shift(begin); });
    const uint64_t begin = moved_.of(meeting, from, [&](const Moment &each) { return each.ns + clocks_.shift(each); });
    arrived(begin, shift, end_of(to));
  }
  void over(const Meeting &meeting) override {
    shift_.forget(meeting);
    moved_.forget(meeting);
  }

 private:
  void arrived(uint64_t from_ns, uint64_t from_shift_ns, const Moment &to) {
    const uint64_t shift = clocks_.shift(to);
    if (shift != 0 || from_shift_ns != 0) ++made_.moved;
    if (from_ns > to.ns + shift) ++made_.left;
    made_.largest_ns = std::max({made_.largest_ns, shift, from_shift_ns});
  }

  Clocks &clocks_;
  trace::Corrections &made_;
  LatestOfAll shift_;
  LatestOfAll moved_;
};

}  // namespace

Result<trace::Corrections> logical_clock(const std::vector<RankStart> &ranks, const Arriving &replay) {
  Clocks clocks(ranks);
  trace::Corrections made;
  ForwardPass forward(&clocks, &made);
  if (auto done = replay(&forward); !done) return tl::unexpected(done.error());
  made.ranks.resize(ranks.size());
  if (made.reversed == 0) return made;
  BackwardPass backward(&clocks);
  if (auto done = replay(&backward); !done) return tl::unexpected(done.error());
  for (Clock &clock : clocks.all()) clock.shift = {clock.forward.shifts(), clock.backward->shifts()};
  Check check(&clocks, &made);
  if (auto done = replay(&check); !done) return tl::unexpected(done.error());
  for (size_t place = 0; place < ranks.size(); ++place) made.ranks[place] = std::move(clocks.all()[place].shift);
  return made;
}

}  // namespace cairn::analyze
