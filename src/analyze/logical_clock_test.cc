#include "analyze/logical_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace cairn::analyze {
namespace {

/// What happened in a made-up run, in the order in which it did.
struct Happening {
  Edge edge;
  Meeting meeting;  ///< where it has begins
  std::vector<uint32_t> from;
};

/// A call that took no time.
CallTime at(uint32_t rank, uint64_t ns) {
  CallTime call;
  call.rank = rank;
  call.begin_ns = ns;
  call.end_ns = ns;
  return call;
}

class Played {
 public:
  explicit Played(uint32_t ranks) {
    for (uint32_t rank = 0; rank < ranks; ++rank) starts_.push_back({rank, 0});
  }
  void message(uint32_t from, uint64_t sent, uint32_t to, uint64_t received) {
    happenings_.push_back({{Edge::Kind::message, at(from, sent), at(to, received), true, {}}, {}, {}});
    see(from, sent);
    see(to, received);
  }
  /// All ranks; `from` as Arrivals::left has it.
  void meeting(const std::vector<uint64_t> &begins, const std::vector<uint64_t> &ends,
               std::vector<uint32_t> from = {}) {
    Happening happening;
    happening.meeting.number = happenings_.size();
    for (uint32_t rank = 0; rank < begins.size(); ++rank) {
      happening.meeting.begins.push_back(at(rank, begins[rank]));
      see(rank, begins[rank]);
    }
    happening.from = std::move(from);
    for (uint32_t rank = 0; rank < ends.size(); ++rank) {
      see(rank, ends[rank]);
      happening.edge.to = at(rank, ends[rank]);
      happenings_.push_back(happening);
    }
  }
  void see(uint32_t rank, uint64_t ns) { moments_[rank].push_back(ns); }

  [[nodiscard]] trace::Corrections correct(uint64_t uncertainty = 0) const {
    std::vector<RankStart> starts = starts_;
    for (RankStart &start : starts) start.uncertainty_ns = uncertainty;
    auto made = logical_clock(starts, [this](Arrivals *arrivals) -> Result<void> {
      for (size_t i = 0; i < happenings_.size(); ++i) {
        const Happening &each = happenings_[i];
        if (each.meeting.begins.empty()) {
          arrivals->message(each.edge);
          continue;
        }
        arrivals->left(each.meeting, each.from, each.edge.to);
        const bool last = i + 1 == happenings_.size() || happenings_[i + 1].meeting.number != each.meeting.number;
        if (last) arrivals->over(each.meeting);
      }
      return {};
    });
    EXPECT_TRUE(made.has_value());
    return *made;
  }

  /// No edge is reversed; the moments of a rank stand in their order, and no two came closer by more than 1 %.
  void expect_sound(const trace::Corrections &made) const {
    const auto moved = [&](const CallTime &call) { return call.end_ns + made.ranks[call.rank].of(call.end_ns); };
    for (const Happening &each : happenings_) {
      if (each.meeting.begins.empty()) {
        EXPECT_LE(moved(each.edge.from), moved(each.edge.to));
      } else if (each.from.empty()) {
        for (const CallTime &begin : each.meeting.begins) EXPECT_LE(moved(begin), moved(each.edge.to));
      } else {
        for (const uint32_t place : each.from) EXPECT_LE(moved(each.meeting.begins[place]), moved(each.edge.to));
      }
    }
    for (auto [rank, moments] : moments_) {
      std::sort(moments.begin(), moments.end());
      for (size_t i = 1; i < moments.size(); ++i) {
        const uint64_t apart = moments[i] - moments[i - 1];
        const uint64_t now = moved(at(rank, moments[i])) - moved(at(rank, moments[i - 1]));
        EXPECT_LE(moved(at(rank, moments[i - 1])), moved(at(rank, moments[i])));
        EXPECT_GE(now + apart / kControl + 1, apart) << "rank " << rank << " at " << moments[i];
      }
    }
    EXPECT_EQ(made.left, 0);
  }
  [[nodiscard]] const std::map<uint32_t, std::vector<uint64_t>> &moments() const { return moments_; }

 private:
  std::vector<RankStart> starts_;
  std::vector<Happening> happenings_;
  std::map<uint32_t, std::vector<uint64_t>> moments_;
};

/// Messages, barriers and broadcasts of ranks whose clocks are wrong by `offset` ns and gain `drift` of the time.
Played random_run(uint32_t ranks, uint64_t seed, int64_t offset, double drift) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  std::vector<uint64_t> now(ranks);
  std::vector<int64_t> offsets(ranks);
  std::vector<double> drifts(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    now[rank] = 1'000'000 + below(1000);
    if (offset != 0) offsets[rank] = static_cast<int64_t>(below(static_cast<uint64_t>(offset)));
    drifts[rank] = drift * static_cast<double>(rank) / ranks;
  }
  const auto told = [&](uint32_t rank) {
    const auto gained = static_cast<int64_t>(drifts[rank] * static_cast<double>(now[rank]));
    return now[rank] + static_cast<uint64_t>(offsets[rank] + gained);
  };
  Played run(ranks);
  for (int i = 0; i < 2000; ++i) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      now[rank] += 1 + below(20'000);
      run.see(rank, told(rank));
    }
    if (i % 50 == 49) {
      std::vector<uint64_t> begins;
      std::vector<uint64_t> ends;
      const bool barrier = i % 100 == 99;
      const uint32_t root = static_cast<uint32_t>(below(ranks));
      for (uint32_t rank = 0; rank < ranks; ++rank) begins.push_back(told(rank));
      const uint64_t last = barrier ? *std::max_element(now.begin(), now.end()) : now[root];
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        now[rank] = std::max(now[rank], last) + 1 + below(500);
        ends.push_back(told(rank));
      }
      run.meeting(begins, ends, barrier ? std::vector<uint32_t>{} : std::vector<uint32_t>{root});
      continue;
    }
    const auto from = static_cast<uint32_t>(below(ranks));
    const auto to = static_cast<uint32_t>((from + 1 + below(ranks - 1)) % ranks);
    const uint64_t sent = told(from);
    now[to] = std::max(now[to], now[from]) + 1 + below(1000);
    now[from] += below(100);
    run.message(from, sent, to, told(to));
  }
  return run;
}

TEST(LogicalClock, LeavesWhatIsRightAsItIs) {
  const Played run = random_run(5, 1, 0, 0);
  const trace::Corrections made = run.correct();
  EXPECT_EQ(made.reversed, 0);
  EXPECT_EQ(made.moved, 0);
  EXPECT_EQ(made.largest_ns, 0);
  EXPECT_GT(made.arrivals, 1960);
  EXPECT_EQ(made.ranks, std::vector<trace::RankShift>(5));
}

TEST(LogicalClock, PutsAnyClocksRight) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const int64_t offset = seed % 4 == 0 ? 0 : seed % 4 == 1 ? 3000 : seed % 4 == 2 ? 200'000 : 50'000'000;
    const double drift = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1e-5 : 1e-3;
    const Played run = random_run(2 + static_cast<uint32_t>(seed % 7), seed, offset, drift);
    const trace::Corrections made = run.correct(1000);
    if (offset > 10'000) {
      EXPECT_GT(made.doubtless, 0) << seed;
      EXPECT_GT(made.moved, 0) << seed;
    }
    EXPECT_LE(made.doubtless, made.reversed);
    EXPECT_EQ(made.reversed != 0, made.largest_ns > 0);
    run.expect_sound(made);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(LogicalClock, MovesOnlyWhatIsNear) {
  Played run(2);
  for (uint64_t ns = 0; ns < 10'000'000; ns += 1000) {
    run.see(0, ns);
    run.see(1, ns);
  }
  run.message(0, 5'000'500, 1, 4'999'500);  // 1000 ns too early
  const trace::Corrections made = run.correct();
  run.expect_sound(made);
  EXPECT_EQ(made.reversed, 1);
  EXPECT_EQ(made.doubtless, 1);
  EXPECT_EQ(run.correct(499).doubtless, 1);
  EXPECT_EQ(run.correct(500).doubtless, 0);
  EXPECT_EQ(run.correct(500).ranks, made.ranks);
  EXPECT_EQ(made.moved, 1);
  EXPECT_EQ(made.largest_ns, 1000);
  EXPECT_EQ(made.ranks[0], trace::RankShift());
  const auto shift = [&](uint64_t ns) { return made.ranks[1].of(ns); };
  EXPECT_EQ(shift(4'999'500), 1000);
  EXPECT_EQ(shift(4'999'499), 1000) << "what leads up to it";
  EXPECT_EQ(shift(4'949'499), 500);
  EXPECT_EQ(shift(4'899'499), 0);
  EXPECT_EQ(shift(0), 0);
  EXPECT_EQ(shift(5'049'500), 500) << "what follows";
  EXPECT_EQ(shift(5'099'500), 0);
  EXPECT_EQ(shift(9'000'000), 0);
}

TEST(LogicalClock, LeadsUpOnlyAsFarAsWhatIsSentAllows) {
  Played run(3);
  run.message(1, 4'990'000, 2, 4'990'100);  // may move by 100 ns
  run.message(1, 4'980'000, 2, 4'980'000);  // not at all
  run.message(0, 5'000'500, 1, 4'999'500);
  const trace::Corrections made = run.correct();
  run.expect_sound(made);
  EXPECT_EQ(made.ranks[1].of(4'990'000), 100);
  EXPECT_EQ(made.ranks[1].of(4'980'000), 0);
  EXPECT_EQ(made.ranks[1].of(4'999'499), 1000);
  EXPECT_EQ(made.ranks[2], trace::RankShift());
}

TEST(LogicalClock, SaysWhatItCannotPutRight) {
  // By a clock that stood still, rank 1 answered at the moment at which it was asked, and rank 0 asks again because of
  // the answer, and is told before that.
  Played run(2);
  run.message(1, 50, 0, 60);
  run.message(0, 100, 1, 50);
  const trace::Corrections made = run.correct();
  EXPECT_EQ(made.reversed, 1);
  EXPECT_EQ(made.left, 1);
}

TEST(LogicalClock, TakesWhatNoRunHas) {
  constexpr uint64_t kFar = trace::Knots::kMost;
  Played run(2);
  run.message(0, kFar, 1, 0);
  run.message(1, 10, 0, 5);
  run.message(0, kFar, 1, kFar - 1);
  const trace::Corrections made = run.correct();
  EXPECT_EQ(made.reversed, 3);
  EXPECT_FALSE(made.write().empty());
}

}  // namespace
}  // namespace cairn::analyze
