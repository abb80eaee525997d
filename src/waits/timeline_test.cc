#include "waits/timeline.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::waits {
namespace {

std::vector<Span> all(const Timeline &timeline, uint64_t begin_ns, uint64_t end_ns) {
  std::vector<Span> spans;
  timeline.between(begin_ns, end_ns, [&](const Span &span) { spans.push_back(span); });
  return spans;
}

TEST(Timeline, TellsWhatThereWasAndWhereItDoesNotKnow) {
  Timeline timeline(3);
  timeline.add({10, 20, {3, 1}});
  timeline.add({20, 30, {7, 2}});
  timeline.add({40, 50, {3, 1}});
  const auto spans = all(timeline, 5, 45);
  ASSERT_EQ(spans.size(), 5);
  const uint64_t begins[] = {5, 10, 20, 30, 40};
  const Activity activities[] = {kUnknownActivity, 1, 2, kUnknownActivity, 1};
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i].begin_ns, begins[i]);
    EXPECT_EQ(spans[i].end_ns, i + 1 < spans.size() ? begins[i + 1] : 45);
    EXPECT_EQ(spans[i].cause.activity, activities[i]);
  }
  EXPECT_EQ(spans[2].cause.rank, 7);
  EXPECT_TRUE(all(timeline, 15, 15).empty());
}

TEST(Timeline, ForgetsWhatHardlyAnybodyAsksFor) {
  Timeline timeline(0);
  const uint64_t count = Timeline::kKept + 10;
  for (uint64_t i = 0; i < count; ++i) timeline.add({10 * i, 10 * i + 10, {0, static_cast<Activity>(i)}});
  timeline.forget_before(35);
  EXPECT_EQ(all(timeline, 30, 40).front().cause.activity, 3);
  EXPECT_EQ(all(timeline, 20, 30).front().cause.activity, kUnknownActivity);
  timeline.forget_before(10 * count);  // the last ones stay
  EXPECT_EQ(all(timeline, 90, 100).front().cause.activity, kUnknownActivity);
  EXPECT_EQ(all(timeline, 100, 110).front().cause.activity, 10);
}

TEST(Timeline, LeavesOutWhatOverlaps) {
  Timeline timeline(0);
  timeline.add({10, 30, {0, 1}});
  timeline.add({20, 25, {0, 2}});
  timeline.add({20, 40, {0, 2}});
  const auto spans = all(timeline, 10, 40);
  ASSERT_EQ(spans.size(), 2);
  EXPECT_EQ(spans[1].begin_ns, 30);
}

TEST(Timeline, JoinsNeighboursWhereThereAreTooMany) {
  Timeline timeline(0);
  // Each second span is nine times as long.
  uint64_t at = 0;
  for (uint64_t i = 0; i < 3 * Timeline::kMost; ++i) {
    const uint64_t length = i % 2 == 0 ? 1 : 9;
    timeline.add({at, at + length, {0, static_cast<Activity>(i % 2)}});
    at += length;
  }
  const auto spans = all(timeline, 0, at);
  EXPECT_LE(spans.size(), Timeline::kMost);
  uint64_t told = 0;
  uint64_t longer = 0;
  for (const Span &span : spans) {
    told += span.end_ns - span.begin_ns;
    if (span.cause.activity == 1) longer += span.end_ns - span.begin_ns;
    EXPECT_NE(span.cause.activity, kUnknownActivity);
  }
  EXPECT_EQ(told, at);
  EXPECT_GE(longer, at / 10 * 9);
}

}  // namespace
}  // namespace cairn::waits
