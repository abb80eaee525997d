#include "check/buffers.h"

#include <gtest/gtest.h>

#include "spec/ids.h"

namespace cairn::check {
namespace {

using analyze::HandleName;

HandleName request(int64_t number) {
  HandleName name;
  name.number = number;
  return name;
}

analyze::CallTime call(uint64_t number) {
  analyze::CallTime made;
  made.call = number;
  return made;
}

namespace ids = spec::constant_id;

objects::TypeLayouts &table() {
  static objects::TypeLayouts all;
  return all;
}

Region region(int64_t begin, int64_t end, bool writes, int64_t segment = 0) {
  return {{trace::kHeap, segment, 0},
          begin,
          table().repeated(end - begin, 1, table().predefined(ids::k_BYTE)),
          writes,
          true};
}

TEST(PendingBuffers, OverlapWhatIsPending) {
  PendingBuffers buffers;
  EXPECT_TRUE(buffers.use({region(0, 100, true)}, call(1), request(0)).empty());
  EXPECT_TRUE(buffers.use({region(100, 120, true)}, call(2), request(1)).empty());   // beside it
  EXPECT_TRUE(buffers.use({region(0, 100, true, 1)}, call(3), request(2)).empty());  // another segment
  const auto found = buffers.use({region(90, 110, false)}, call(4), std::nullopt);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].pending.call, 1U);
  EXPECT_EQ(found[0].bytes, 10U);
  EXPECT_TRUE(found[0].pending_writes);
  EXPECT_FALSE(found[0].writes);
  buffers.complete(request(0));
  ASSERT_EQ(buffers.use({region(90, 110, false)}, call(5), std::nullopt).size(), 1U);
  buffers.complete(request(1));
  EXPECT_TRUE(buffers.use({region(90, 110, true)}, call(6), std::nullopt).empty());
}

TEST(PendingBuffers, MayBeReadTwice) {
  PendingBuffers buffers;
  EXPECT_TRUE(buffers.use({region(0, 8, false)}, call(1), request(0)).empty());
  EXPECT_TRUE(buffers.use({region(0, 8, false)}, call(2), request(1)).empty());
  EXPECT_EQ(buffers.use({region(4, 8, true)}, call(3), std::nullopt).size(), 2U);
}

TEST(PendingBuffers, AreNotLookedAtWhereAllOnlyRead) {
  constexpr int64_t kMany = 20'000;
  PendingBuffers buffers;
  for (int64_t i = 0; i < kMany; ++i) {
    EXPECT_TRUE(buffers.use({region(0, 8, false)}, call(static_cast<uint64_t>(i)), request(i)).empty());
  }
  EXPECT_EQ(buffers.looks(), 0U);
  EXPECT_EQ(buffers.use({region(4, 8, true)}, call(kMany), std::nullopt).size(), PendingBuffers::kMostOverlaps);
  EXPECT_LE(buffers.looks(), PendingBuffers::kMostOverlaps);
}

TEST(PendingBuffers, LieBetweenOneAnother) {
  const objects::TypeLayout *number = table().predefined(ids::k_INT);
  const objects::TypeLayout *column = table().repeated(10, 40, number);
  PendingBuffers buffers;
  const auto at = [&](int64_t place) { return Region{{trace::kHeap, 0, 0}, place, column, true, true}; };
  for (int64_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(buffers.use({at(4 * i)}, call(static_cast<uint64_t>(i)), request(i)).empty());
  }
  EXPECT_EQ(buffers.use({region(84, 92, false)}, call(10), std::nullopt).size(), 2U);
  const auto found = buffers.use({at(46)}, call(11), std::nullopt);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].pending.call, 1U);
  EXPECT_EQ(found[0].bytes, 18U);
  EXPECT_EQ(found[1].bytes, 18U);
  for (int64_t i = 0; i < 10; ++i) buffers.complete(request(i));
  EXPECT_TRUE(buffers.use({at(46)}, call(12), std::nullopt).empty());
}

TEST(PendingBuffers, AreLeftAloneOnceASendWasComplete) {
  PendingBuffers buffers;
  EXPECT_TRUE(buffers.use({region(0, 8, false)}, call(1), request(0)).empty());
  EXPECT_TRUE(buffers.use({region(8, 16, false)}, call(2), request(1)).empty());
  EXPECT_TRUE(buffers.use({region(16, 24, true)}, call(3), request(2)).empty());
  buffers.complete(request(0));
  EXPECT_TRUE(buffers.use({region(8, 16, true)}, call(4), std::nullopt).empty());  // that may be the one
  EXPECT_EQ(buffers.use({region(16, 24, true)}, call(5), std::nullopt).size(), 1U);
  EXPECT_TRUE(buffers.use({region(32, 40, false)}, call(6), request(3)).empty());
  EXPECT_EQ(buffers.use({region(32, 40, true)}, call(7), std::nullopt).size(), 1U);
}

}  // namespace
}  // namespace cairn::check
