#include "timing/percentiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

namespace cairn::timing {
namespace {

using Draw = std::function<uint64_t(std::mt19937_64 &)>;

struct Kind {
  std::string name;
  Draw draw;
};

const std::vector<Kind> &kinds() {
  static const std::vector<Kind> all = {
      {"uniform", [](std::mt19937_64 &random) { return 1000 + random() % 100000; }},
      {"constant", [](std::mt19937_64 &) { return uint64_t{777}; }},
      {"zero", [](std::mt19937_64 &) { return uint64_t{0}; }},
      {"some are zero", [](std::mt19937_64 &random) { return random() % 3 == 0 ? 0 : random() % 50; }},
      {"heavy tail",
       [](std::mt19937_64 &random) {
         return static_cast<uint64_t>(200 / std::pow(std::uniform_real_distribution(1e-6, 1.0)(random), 1.5));
       }},
      {"two heaps", [](std::mt19937_64 &random) { return (random() % 2 == 0 ? 300 : 5000000) + random() % 20; }},
      {"begins of buckets", [](std::mt19937_64 &random) { return uint64_t{1} << (random() % 40); }},
      {"huge", [](std::mt19937_64 &random) { return UINT64_MAX - random() % 2; }},
  };
  return all;
}

CallStats stats_of(const std::vector<uint64_t> &durations) {
  CallStats stats;
  stats.minimum = UINT64_MAX;
  for (const uint64_t each : durations) {
    ++stats.count;
    stats.sum += each;
    stats.minimum = std::min(stats.minimum, each);
    stats.maximum = std::max(stats.maximum, each);
    ++stats.histogram[static_cast<size_t>(CallStats::bucket(each))];
  }
  return stats;
}

/// By nearest rank.
uint64_t exact(std::vector<uint64_t> durations, uint64_t percent) {
  std::sort(durations.begin(), durations.end());
  return durations[(durations.size() * percent + 99) / 100 - 1];
}

double most_error(const Percentiles &found) { return std::max({found.median.error, found.p95.error, found.p99.error}); }

void expect_within(const Percentiles &found, const std::vector<uint64_t> &durations) {
  const auto check = [&](const Percentile &one, uint64_t percent) {
    const uint64_t estimate = one.ns;
    const uint64_t truth = exact(durations, percent);
    const uint64_t apart = std::max(estimate, truth) - std::min(estimate, truth);
    EXPECT_LE(static_cast<double>(apart),
              std::max(truth < 2 ? 1.0 : 0.0, one.error * static_cast<double>(truth) * 1.0001))
        << percent << " %: " << estimate << " instead of " << truth;
  };
  check(found.median, 50);
  check(found.p95, 95);
  check(found.p99, 99);
  EXPECT_LE(found.median.ns, found.p95.ns);
  EXPECT_LE(found.p95.ns, found.p99.ns);
}

TEST(Percentiles, OfStatisticsAreWithinTheirBuckets) {
  for (const Kind &kind : kinds()) {
    for (const size_t calls : {1, 2, 3, 20, 100, 101, 5000}) {
      SCOPED_TRACE(kind.name + ", " + std::to_string(calls));
      std::mt19937_64 random(calls);
      std::vector<uint64_t> durations(calls);
      for (uint64_t &each : durations) each = kind.draw(random);
      const auto found = percentiles_of(stats_of(durations));
      ASSERT_TRUE(found.has_value());
      expect_within(*found, durations);
      EXPECT_LT(most_error(*found), 0.5);
      if (calls <= 2) {
        EXPECT_EQ(most_error(*found), 0);
      }
    }
  }
}

TEST(Percentiles, AreExactWhereTheHistogramSaysAll) {
  const auto constant = percentiles_of(stats_of(std::vector<uint64_t>(50, 777)));
  ASSERT_TRUE(constant.has_value());
  EXPECT_EQ(constant->median.ns, 777U);
  EXPECT_EQ(constant->p99.ns, 777U);
  EXPECT_EQ(most_error(*constant), 0);
  const auto few = percentiles_of(stats_of({100, 9000}));
  ASSERT_TRUE(few.has_value());
  EXPECT_EQ(few->median.ns, 100U);
  EXPECT_EQ(few->p95.ns, 9000U);
}

// What lies at equal ratios is found nearly where it is, not merely in its bucket.
TEST(Percentiles, AreInterpolated) {
  std::vector<uint64_t> durations;
  for (int i = 0; i < 10000; ++i) durations.push_back(static_cast<uint64_t>(1000 * std::pow(1000, i / 10000.0)));
  const auto found = percentiles_of(stats_of(durations));
  ASSERT_TRUE(found.has_value());
  const auto truth = static_cast<double>(exact(durations, 95));
  EXPECT_NEAR(static_cast<double>(found->p95.ns), truth, 0.02 * truth);
  EXPECT_GT(most_error(*found), 0.3);
}

TEST(Percentiles, AreNotKnownOfCallsThatTheHistogramLacks) {
  EXPECT_FALSE(percentiles_of(CallStats()).has_value());
  CallStats stats = stats_of({100, 200, 300});
  stats.count = 4;
  EXPECT_FALSE(percentiles_of(stats).has_value());
  stats.count = 3;
  EXPECT_TRUE(percentiles_of(stats).has_value());
  std::swap(stats.minimum, stats.maximum);  // a file may say anything
  EXPECT_FALSE(percentiles_of(stats).has_value());
}

TEST(Percentiles, SayThatLittleIsKnownOfCallsThatTookHours) {
  const uint64_t hour = 3600'000'000'000;
  const auto found = percentiles_of(stats_of({hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour}));
  ASSERT_TRUE(found.has_value());
  EXPECT_GT(most_error(*found), 0.5);
  expect_within(*found, {hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour});
}

TEST(Durations, HaveExactPercentilesUntilTheyAreMany) {
  for (const Kind &kind : kinds()) {
    for (const size_t calls : {size_t{1}, size_t{100}, Durations::kExact, Durations::kExact + 1}) {
      SCOPED_TRACE(kind.name + ", " + std::to_string(calls));
      std::mt19937_64 random(calls);
      std::vector<uint64_t> drawn(calls);
      for (uint64_t &each : drawn) each = kind.draw(random);
      // All in one, and as parts that are merged.
      Durations whole;
      Durations parts[3];
      for (size_t i = 0; i < calls; ++i) {
        whole.add(drawn[i]);
        parts[i % 3].add(drawn[i]);
      }
      parts[0].merge(parts[1]);
      parts[2].merge(parts[0]);
      for (const Durations *each : {&whole, &parts[2]}) {
        const auto found = each->percentiles();
        ASSERT_TRUE(found.has_value());
        expect_within(*found, drawn);
        EXPECT_LT(most_error(*found), 0.001);
        if (calls <= Durations::kExact) {
          EXPECT_EQ(most_error(*found), 0);
        }
      }
    }
  }
  EXPECT_FALSE(Durations().percentiles().has_value());
}

TEST(Durations, ManyAreMergedWithManyAndWithFew) {
  std::vector<uint64_t> drawn;
  Durations parts[3];
  std::mt19937_64 random(7);
  for (size_t part = 0; part < 3; ++part) {
    for (size_t i = 0; i < (part == 1 ? 10 : Durations::kExact + 5); ++i) {
      drawn.push_back(1000 * (part + 1) + random() % 5000);
      parts[part].add(drawn.back());
    }
  }
  parts[1].merge(parts[0]);  // few take many in, …
  parts[1].merge(parts[2]);  // … and many more
  const auto found = parts[1].percentiles();
  ASSERT_TRUE(found.has_value());
  expect_within(*found, drawn);
}

}  // namespace
}  // namespace cairn::timing
