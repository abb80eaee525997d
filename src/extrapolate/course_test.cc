#include "extrapolate/course.h"

#include <gtest/gtest.h>

#include "extrapolate/walk.h"

namespace cairn::extrapolate {
namespace {

using Calls = std::vector<uint32_t>;

Calls operator+(Calls a, const Calls &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Calls operator*(const Calls &calls, int times) {
  Calls result;
  for (int i = 0; i < times; ++i) result = result + calls;
  return result;
}

/// The course of the sequences, which must give each of them; `runs`: which run each is of.
Course course(const std::vector<Calls> &sequences, const std::vector<size_t> &runs) {
  std::vector<std::vector<Nest>> nests;
  nests.reserve(sequences.size());
  for (const Calls &calls : sequences) nests.push_back(fold(calls));
  Course result;
  EXPECT_TRUE(course_of(
      std::move(nests), runs, [](size_t, size_t) { return Traits{}; }, &result));
  for (size_t s = 0; s < sequences.size(); ++s) {
    Calls again;
    walk(
        result.list, Moment(), [&](const CourseItem &item, const Moment &) { return item.counts[s]; },
        [&](const CourseItem &item, const Moment &) { again.push_back(item.call); });
    EXPECT_EQ(again, sequences[s]) << "sequence " << s;
  }
  return result;
}

TEST(Nest, FoldsInnerLoopsFirstWhateverTheirCounts) {
  const auto list = fold((Calls{0} + (Calls{1} + Calls{2, 3} * 4) * 5 + Calls{9}));
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[1].count, 5U);
  ASSERT_EQ(list[1].body.size(), 2U);
  EXPECT_EQ(list[1].body[1].count, 4U);
  Calls again;
  expand(list, &again);
  EXPECT_EQ(again, (Calls{0} + (Calls{1} + Calls{2, 3} * 4) * 5 + Calls{9}));
}

TEST(Course, KnowsALoopThatASmallRunTurnsOnce) {
  const Calls stage = {1, 2, 3};
  const Course found =
      course({(Calls{0} + stage) * 3, (Calls{0} + stage * 2) * 3, (Calls{0} + stage * 3) * 3}, {0, 1, 2});
  ASSERT_EQ(found.list.size(), 1U);
  ASSERT_EQ(found.list[0].body.size(), 2U);
  EXPECT_EQ(found.list[0].body[1].counts, (std::vector<int64_t>{1, 2, 3}));
}

TEST(Course, PutsTogetherWhatRanksAtEdgesLeaveOut) {
  // Receive from north and west, send to south and east, as a rank inside and in each corner does.
  const Course found = course(
      {Calls{1, 2, 3, 4} * 7, Calls{3, 4} * 7, Calls{1, 2} * 7, Calls{2, 3} * 7, Calls{1, 4} * 7}, {0, 0, 0, 0, 0});
  ASSERT_EQ(found.list.size(), 1U);
  ASSERT_EQ(found.list[0].body.size(), 4U);
  EXPECT_EQ(found.list[0].body[0].counts, (std::vector<int64_t>{1, 0, 1, 0, 1}));
  EXPECT_EQ(found.list[0].body[3].counts, (std::vector<int64_t>{1, 1, 0, 0, 1}));
}

TEST(Course, TellsTurnsThatHaveRunTogether) {
  // A sweep there and a sweep back: where both are alike, ten turns of one are five of the other.
  const Course found = course({(Calls{1, 2}) * 10, (Calls{1, 2, 2} + Calls{1, 1, 2}) * 5}, {0, 0});
  ASSERT_EQ(found.list.size(), 1U);
  EXPECT_EQ(found.list[0].counts, (std::vector<int64_t>{5, 5}));
  // The root of a tree only receives: its turns have run together with those of the loop around.
  const Course tree = course({(Calls{1, 1, 2}) * 5, Calls{1} * 10, Calls{2} * 5}, {0, 0, 0});
  ASSERT_EQ(tree.list.size(), 1U);
  EXPECT_EQ(tree.list[0].counts, (std::vector<int64_t>{5, 5, 5}));
  EXPECT_EQ(tree.list[0].body[0].counts, (std::vector<int64_t>{2, 2, 0}));
}

TEST(Course, DecidesByTraitsWhichOfTwoCallsOneIs) {
  const std::vector<Calls> sequences = {Calls{1, 2, 1, 3} * 3, Calls{1, 3} * 3};
  std::vector<std::vector<Nest>> nests = {fold(sequences[0]), fold(sequences[1])};
  Course found;
  // The lone call is as the second of the others: tag 8.
  const auto traits = [](size_t sequence, size_t place) { return Traits{sequence == 0 && place % 4 == 0 ? 7U : 8U}; };
  ASSERT_TRUE(course_of(std::move(nests), {0, 0}, traits, &found));
  std::vector<int64_t> lone;
  const auto collect = [&](auto &&self, const std::vector<CourseItem> &list) -> void {
    for (const CourseItem &item : list) {
      if (!item.is_loop() && item.call == 1) lone.push_back(item.counts[1]);
      self(self, item.body);
    }
  };
  collect(collect, found.list);
  ASSERT_EQ(lone.size(), 2U);
  EXPECT_LE(lone[0], 0);
  EXPECT_GT(lone[1], 0);
}

}  // namespace
}  // namespace cairn::extrapolate
