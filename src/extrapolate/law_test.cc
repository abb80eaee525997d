#include "extrapolate/law.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "trace/values/atom.h"

namespace cairn::extrapolate {
namespace {

/// Every rank of some runs, in so many turns of one loop each.
class Ranks {
 public:
  explicit Ranks(const std::vector<uint32_t> &sizes, const std::function<int(uint32_t ranks)> &turns = {}) {
    for (const uint32_t size : sizes) add(size, turns ? turns(size) : 0);
  }
  /// As many turns as the rank makes.
  Ranks(const std::vector<uint32_t> &sizes, const std::function<int(const Coordinates &)> &turns) : of_rank_(turns) {
    for (const uint32_t size : sizes) add(size, 0);
  }
  void add(uint32_t size, int turns) {
    for (uint32_t rank = 0; rank < size; ++rank) {
      coordinates_.push_back(Coordinates::of(rank, size, size));
      if (of_rank_) turns = of_rank_(coordinates_.back());
      for (int turn = 0; turn < std::max(1, turns); ++turn) {
        Moment moment;
        moment.of = &coordinates_.back();
        moment.turn[0] = turn;
        moment.turns[0] = turns;
        moments.push_back(moment);
        runs.push_back(run_);
      }
    }
    ++run_;
  }
  std::vector<Moment> moments;
  std::vector<uint32_t> runs;

 private:
  std::function<int(const Coordinates &)> of_rank_;
  std::deque<Coordinates> coordinates_;
  uint32_t run_ = 0;
};

using Value = std::function<int64_t(const Moment &)>;

/// The law that is found in the small runs gives all values of the large one.
void expect_found(const Ranks &small, const Ranks &large, const Value &value) {
  std::vector<int64_t> values;
  for (const Moment &moment : small.moments) values.push_back(value(moment));
  const std::optional<Law> law = Fit(small.moments, small.runs).law(values);
  ASSERT_TRUE(law.has_value());
  for (const Moment &moment : large.moments) {
    ASSERT_EQ(law->at(moment), value(moment)) << law->text() << " on rank " << moment.of->rank;
  }
}

constexpr int64_t kProcNull = trace::special(67);

/// On how many grids of a multigrid method a rank works, where on each coarser one half of each side's ranks drop out.
int levels(const Coordinates &of) {
  int all = 0;
  for (int64_t stride = 1; stride <= of.tall.columns; stride *= 2, ++all) {
    if (of.tall.x % stride != 0 || of.tall.y % stride != 0) break;
  }
  return all;
}

TEST(Law, FindsWhoDropsOutOnCoarseGrids) {
  expect_found(Ranks({4, 16, 64}), Ranks({256, 1024}), [](const Moment &m) { return levels(*m.of); });
  // As NAS MG deals cells out: where there are fewer than ranks, the last of several has one.
  const auto above = [](const Moment &m) {
    int64_t all = 0;
    for (int64_t stride = 2; stride <= m.of->box.sides[0]; stride *= 2, ++all) {
      for (size_t d = 0; d < 3; ++d) {
        if ((m.of->box.at[d] + 1) % stride != 0) return all;
      }
    }
    return all;
  };
  expect_found(Ranks({8, 64, 512}), Ranks({4096}), above);
}

TEST(Law, FindsNeighboursOnCoarseGrids) {
  const auto turns = [](const Coordinates &of) { return levels(of); };
  const Ranks small({4, 16, 64}, turns);
  const Ranks large({256, 1024}, turns);
  for (const bool back : {false, true}) {
    const auto stride = [back](const Moment &m) {
      return int64_t{1} << (back ? m.turns[0] - 1 - m.turn[0] : m.turn[0]);
    };
    expect_found(small, large, [&](const Moment &m) {
      return m.of->tall.x + stride(m) < m.of->tall.columns ? m.of->rank + stride(m) : kProcNull;
    });
    expect_found(small, large, [&](const Moment &m) {
      return m.of->tall.y >= stride(m) ? m.of->rank - stride(m) * m.of->tall.columns : kProcNull;
    });
  }
}

TEST(Law, FindsNeighboursOnCoarseGridsOfThreeDimensions) {
  const auto turns = [](const Coordinates &of) {
    int all = 0;
    for (int64_t stride = 1; stride <= of.box.sides[0]; stride *= 2, ++all) {
      for (const int64_t at : of.box.at) {
        if (at % stride != 0) return all;
      }
    }
    return all;
  };
  const Ranks small({8, 64, 512}, turns);
  const Ranks large({4096}, turns);
  for (size_t d = 0; d < 3; ++d) {
    expect_found(small, large, [d](const Moment &m) {
      const Box &box = m.of->box;
      int64_t by = int64_t{1} << m.turn[0];
      const int64_t next = box.at[d] + by;
      for (size_t below = 0; below < d; ++below) by *= box.sides[below];
      return next < box.sides[d] ? m.of->rank + by : kProcNull;
    });
  }
}

TEST(Law, FindsNeighboursInMeshes) {
  const Ranks small({4, 16, 36});
  const Ranks large({144});
  expect_found(small, large, [](const Moment &m) { return m.of->rank; });
  expect_found(small, large, [](const Moment &m) { return (m.of->rank + 1) % m.of->ranks; });
  expect_found(small, large,
               [](const Moment &m) { return m.of->tall.y == 0 ? kProcNull : m.of->rank - m.of->tall.columns; });
  expect_found(small, large, [](const Moment &m) {
    const Mesh &mesh = m.of->tall;
    return mesh.y * mesh.columns + (mesh.x + mesh.columns - 1) % mesh.columns;
  });
}

TEST(Law, FindsWhatRanksAtEdgesDoLess) {
  expect_found(Ranks({4, 16, 64}), Ranks({256}), [](const Moment &m) {
    const Mesh &mesh = m.of->tall;
    return (mesh.x > 0 ? 1 : 0) + (mesh.y > 0 ? 1 : 0);
  });
}

TEST(Law, FindsPartnersOfStages) {
  const auto stages = [](uint32_t ranks) { return static_cast<int>(Coordinates::of(0, ranks, ranks).levels); };
  const Ranks small({4, 16, 64}, stages);
  const Ranks large({256}, stages);
  expect_found(small, large, [](const Moment &m) { return m.of->rank ^ (int64_t{1} << m.turn[0]); });
  expect_found(small, large, [](const Moment &m) { return m.of->ranks >> (m.turn[0] + 1) ^ m.of->rank; });
}

TEST(Law, FindsSizesThatFall) {
  expect_found(Ranks({4, 16, 64}), Ranks({256}), [](const Moment &m) { return 4096 / m.of->tall.columns + 2; });
  expect_found(Ranks({4, 16, 64}), Ranks({256}), [](const Moment &m) { return (int64_t{1} << 20) / m.of->ranks; });
}

TEST(Law, FindsSharesThatDoNotComeOutEven) {
  expect_found(Ranks({4, 9, 16}), Ranks({64}), [](const Moment &m) {
    const Mesh &mesh = m.of->tall;
    return 5 * (103 / mesh.rows + (mesh.y < 103 % mesh.rows ? 1 : 0));
  });
}

TEST(Law, FindsALawForEachTurnOfAShortLoop) {
  const auto faces = [](uint32_t) { return 4; };
  expect_found(Ranks({4, 16, 64}, faces), Ranks({256}, faces), [](const Moment &m) -> int64_t {
    const Mesh &mesh = m.of->tall;
    switch (m.turn[0]) {
      case 0:
        return mesh.x == 0 ? kProcNull : m.of->rank - 1;
      case 1:
        return mesh.x + 1 == mesh.columns ? kProcNull : m.of->rank + 1;
      case 2:
        return mesh.y == 0 ? kProcNull : m.of->rank - mesh.columns;
      default:
        return mesh.y + 1 == mesh.rows ? kProcNull : m.of->rank + mesh.columns;
    }
  });
}

TEST(Law, FindsCellsOfMultipartitions) {
  const auto stages = [](uint32_t ranks) { return static_cast<int>(two_sides(ranks)[0]) - 1; };
  const auto cell = [](const Moment &m) {
    const Mesh &mesh = m.of->tall;
    const int64_t c = (m.turn[0] - mesh.x + mesh.columns) % mesh.columns;
    return std::pair((mesh.y - c + mesh.columns) % mesh.columns, c);
  };
  const Ranks small({4, 9, 16, 25}, stages);
  const Ranks large({49}, stages);
  expect_found(small, large,
               [&](const Moment &m) { return 2000 + m.of->tall.columns * cell(m).second + cell(m).first; });
  expect_found(small, large, [&](const Moment &m) {
    const int64_t q = m.of->tall.columns;
    const auto side = [&](int64_t at) {
      return 37 / q + (at < 37 % q ? 1 : 0) - (at == 0 ? 1 : 0) - (at + 1 == q ? 1 : 0);
    };
    return 22 * side(cell(m).first) * side(cell(m).second);
  });
}

TEST(Law, IsNothingWhereThereIsNone) {
  const Ranks small({4, 16, 64});
  std::vector<int64_t> values;
  uint64_t state = 1;
  for (size_t i = 0; i < small.moments.size(); ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    values.push_back(static_cast<int64_t>(state >> 40));
  }
  EXPECT_FALSE(Fit(small.moments, small.runs).law(values).has_value());
}

TEST(Law, DoesNotMakeALineOfTwoPoints) {
  const Ranks small({4, 16});
  std::vector<int64_t> values;
  for (const Moment &moment : small.moments) values.push_back(moment.of->ranks == 4 ? 17 : 101);
  EXPECT_FALSE(Fit(small.moments, small.runs).law(values).has_value());
}

TEST(Law, SaysWhenItGivesNoWholeNumber) {
  const Ranks small({4, 16, 64});
  std::vector<int64_t> values;
  for (const Moment &moment : small.moments) values.push_back(1400 / moment.of->tall.columns);
  const std::optional<Law> law = Fit(small.moments, small.runs).law(values);
  ASSERT_TRUE(law.has_value());
  const Ranks large({256});
  EXPECT_EQ(law->at(large.moments[0]), std::nullopt);
  EXPECT_EQ(law->rounded(large.moments[0]), 88);
}

}  // namespace
}  // namespace cairn::extrapolate
