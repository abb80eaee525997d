#include "trace/model/rank_classes.h"

#include <gtest/gtest.h>

namespace cairn::trace {
namespace {

ClassPart of_ranks(uint32_t first, uint32_t step, uint32_t count) {
  ClassPart part;
  for (uint32_t i = 0; i < count; ++i) part.ranks.append(first + i * step);
  return part;
}

TEST(RankClasses, AreThoseThatHaveTheRank) {
  std::vector<ClassPart> classes;
  classes.push_back(of_ranks(0, 2, 500));  // with many members
  for (uint32_t rank = 1; rank < 1000; rank += 2) classes.push_back(of_ranks(rank, 1, 1));
  classes.push_back(of_ranks(0, 1, 1000));  // as of another thread
  classes.push_back(of_ranks(3, 3, 256));
  classes.push_back(of_ranks(3, 3, 257));
  const RankClasses places(classes);
  for (const uint32_t rank : {0U, 1U, 2U, 3U, 6U, 767U, 768U, 770U, 771U, 774U, 998U, 999U, 1000U, 4000000000U}) {
    std::vector<std::pair<uint32_t, uint64_t>> expected;
    for (uint32_t i = 0; i < classes.size(); ++i) {
      if (const auto member = classes[i].ranks.index_of(rank)) expected.emplace_back(i, *member);
    }
    std::vector<std::pair<uint32_t, uint64_t>> found;
    for (const RankClasses::Place &place : places.of(rank, classes))
      found.emplace_back(place.class_index, place.member);
    EXPECT_EQ(found, expected) << rank;
    EXPECT_EQ(found.empty(), rank >= 1000) << rank;
  }
  EXPECT_TRUE(RankClasses().of(0, {}).empty());
}

}  // namespace
}  // namespace cairn::trace
