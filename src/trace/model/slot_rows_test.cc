#include "trace/model/slot_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::trace {
namespace {

TEST(SlotRows, KeepAListForEachSlot) {
  const SlotRows rows = SlotRows::of({{0, 2}, {}, {1}, {0, 2}});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(std::vector<uint32_t>(rows[0].begin(), rows[0].end()), (std::vector<uint32_t>{0, 2}));
  EXPECT_TRUE(rows[1].empty());
  EXPECT_EQ(rows[2].front(), 1U);
  EXPECT_TRUE(rows.same(0, 3));
  EXPECT_FALSE(rows.same(1, 2));
  EXPECT_NE(rows, SlotRows::of({{0}, {2}, {1}, {0, 2}}));
}

TEST(SlotRows, AreTheIdentityWhereEachSlotIsOneRow) {
  EXPECT_TRUE(SlotRows::of({{0}, {1}, {2}}).is_identity());
  EXPECT_TRUE(SlotRows().is_identity());
  EXPECT_FALSE(SlotRows::of({{0}, {2}}).is_identity());
  EXPECT_FALSE(SlotRows::of({{0, 1}, {}}).is_identity());
  EXPECT_FALSE(SlotRows::of({{0}, {}}).is_identity());
}

TEST(SlotRows, AreReadAsTheyWereWritten) {
  const SlotRows rows = SlotRows::of({{0, 2, 3}, {}, {7}});
  ByteWriter out;
  rows.write(out);
  ByteReader in(out.view());
  SlotRows read;
  for (size_t slot = 0; slot < rows.size(); ++slot) ASSERT_TRUE(read.read(in, 8));
  EXPECT_EQ(read, rows);
  EXPECT_TRUE(in.at_end());
  ByteReader again(out.view());
  EXPECT_FALSE(SlotRows().read(again, 3)) << "a row that there is not";
}

}  // namespace
}  // namespace cairn::trace
