#include "objects/type_layout.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "spec/ids.h"

namespace cairn::objects {
namespace {

namespace ids = spec::constant_id;

class TypeLayoutTest : public ::testing::Test {
 protected:
  const TypeLayout *ints(int64_t count) { return table_.repeated(count, 4, table_.predefined(ids::k_INT)); }
  /// MPI_Type_vector of MPI_INT.
  const TypeLayout *vector(int64_t count, int64_t length, int64_t stride) {
    return table_.repeated(count, 4 * stride, ints(length));
  }
  TypeLayouts table_;
};

/// How often a layout has each byte.
void count_bytes(const TypeLayout &layout, int64_t at, std::map<int64_t, uint64_t> *bytes) {
  if (layout.dense) {
    for (int64_t i = layout.true_lower_bound; i < layout.true_upper_bound; ++i) ++(*bytes)[at + i];
    return;
  }
  for (uint64_t turn = 0; turn < layout.turns; ++turn) {
    for (const TypeLayout::Item &item : layout.items) {
      count_bytes(*item.of, at + item.at + static_cast<int64_t>(turn) * layout.stride, bytes);
    }
  }
}

TEST_F(TypeLayoutTest, HasTheBoundsThatMpiSays) {
  const TypeLayout *column = vector(3, 2, 4);
  ASSERT_NE(column, nullptr);
  EXPECT_EQ(column->size, 24);
  EXPECT_EQ(column->extent(), 40);
  EXPECT_FALSE(column->dense);
  // A structure is rounded up to its strictest member.
  const TypeLayout *mixed =
      table_.structure({{0, table_.predefined(ids::k_DOUBLE)}, {8, table_.predefined(ids::k_CHAR)}});
  EXPECT_EQ(mixed->size, 9);
  EXPECT_EQ(mixed->extent(), 16);
  EXPECT_EQ(mixed->true_extent(), 9);
  EXPECT_EQ(table_.repeated(2, mixed->extent(), mixed)->true_extent(), 25);
  // Bounds that were set are the only ones that count.
  const TypeLayout *narrow = table_.resized(column, 0, 4);
  const TypeLayout *with_set = table_.sequence({{0, ints(10)}, {-8, narrow}});
  EXPECT_EQ(with_set->lower_bound, -8);
  EXPECT_EQ(with_set->upper_bound, -4);
  EXPECT_EQ(with_set->true_lower_bound, -8);
  EXPECT_EQ(with_set->true_upper_bound, 40);
  // Going backwards.
  const TypeLayout *back = vector(3, 1, -2);
  EXPECT_EQ(back->lower_bound, -16);
  EXPECT_EQ(back->extent(), 20);
  // Nothing at all.
  const TypeLayout *nothing = ints(0);
  EXPECT_EQ(nothing->size, 0);
  EXPECT_EQ(table_.sequence({{100, nothing}, {8, ints(1)}})->lower_bound, 8);
}

TEST_F(TypeLayoutTest, HasTheGapsOfPairs) {
  const TypeLayout *pair = table_.predefined(ids::k_DOUBLE_INT);
  EXPECT_EQ(pair->size, 12);
  EXPECT_EQ(pair->extent(), 16);
  EXPECT_EQ(table_.repeated(2, 16, pair)->true_extent(), 28);
  EXPECT_EQ(table_.predefined(ids::k_SHORT_INT)->extent(), 8);
  EXPECT_EQ(table_.predefined(ids::k_2INT), ints(2));
  EXPECT_EQ(table_.predefined(ids::k_DATATYPE_NULL), nullptr);
}

TEST_F(TypeLayoutTest, IsOneForOneLayout) {
  EXPECT_EQ(ints(12), vector(3, 4, 4));
  EXPECT_TRUE(vector(3, 4, 4)->dense);
  EXPECT_EQ(table_.sequence({{0, ints(1)}, {4, ints(1)}}), ints(2));
  EXPECT_EQ(vector(3, 1, 4), table_.repeated(3, 16, ints(1)));
  EXPECT_NE(vector(3, 1, 4), vector(3, 1, 5));
}

TEST_F(TypeLayoutTest, IsNotKnownWhereItIsTooLarge) {
  EXPECT_EQ(ints(INT64_MAX / 2), nullptr);
  EXPECT_EQ(table_.repeated(-1, 4, ints(1)), nullptr);
  EXPECT_EQ(table_.sequence({{INT64_MAX, ints(1)}}), nullptr);
  EXPECT_EQ(table_.sequence({{0, nullptr}}), nullptr);
  EXPECT_EQ(table_.structure({{INT64_MIN, ints(1)}, {INT64_MAX - 8, ints(1)}}), nullptr);
  EXPECT_EQ(table_.resized(ints(1), INT64_MIN, 4), nullptr);
  EXPECT_EQ(table_.resized(ints(1), INT64_MAX, 4), nullptr);
  const TypeLayout *deep = ints(1);
  for (uint32_t i = 0; i <= TypeLayouts::kDeepest && deep != nullptr; ++i) {
    deep = table_.repeated(2, 2 * deep->true_extent() + 4, deep);
  }
  EXPECT_EQ(deep, nullptr);
}

TEST_F(TypeLayoutTest, SharesNothingWithItsNeighbour) {
  const TypeLayout *column = vector(1000, 1, 1000);
  EXPECT_EQ(common_bytes(*column, *column, 4), 0U);
  EXPECT_EQ(common_bytes(*column, *column, 0), 4000U);
  EXPECT_EQ(common_bytes(*column, *column, 2), 2000U);
  EXPECT_EQ(common_bytes(*column, *column, 4000), 3996U);
  EXPECT_EQ(common_bytes(*column, *ints(1000), 8000), 4U);
  EXPECT_EQ(common_bytes(*column, *ints(999), 8004), 0U);
  EXPECT_EQ(common_bytes(*column, *ints(1000000), 0), 4000U);
  EXPECT_EQ(common_bytes(*column, *ints(1), INT64_MAX), 0U);
  EXPECT_EQ(common_bytes(*column, *ints(1), INT64_MIN), 0U);
}

TEST_F(TypeLayoutTest, TellsBytesThatItHasTwice) {
  EXPECT_EQ(repeats_bytes(*vector(3, 2, 1)), true);
  EXPECT_EQ(repeats_bytes(*vector(3, 2, 0)), true);
  EXPECT_EQ(repeats_bytes(*vector(3, 2, 2)), false);
  EXPECT_EQ(repeats_bytes(*vector(3, 2, -3)), false);
  EXPECT_EQ(repeats_bytes(*vector(3, 2, -1)), true);
  EXPECT_EQ(repeats_bytes(*table_.sequence({{0, ints(2)}, {4, ints(1)}})), true);
  // Columns beside each other, which their set extent allows.
  EXPECT_EQ(repeats_bytes(*table_.repeated(5, 4, table_.resized(vector(8, 1, 5), 0, 4))), false);
  EXPECT_EQ(repeats_bytes(*table_.repeated(6, 4, table_.resized(vector(8, 1, 5), 0, 4))), true);
}

TEST_F(TypeLayoutTest, DoesNotTakeAllDay) {
  const TypeLayout *fine = vector(int64_t{1} << 28, 1, 2);
  EXPECT_EQ(common_bytes(*fine, *fine, 4), std::nullopt);
  std::vector<TypeLayout::Item> items;
  for (int64_t i = 0; i < 20000; ++i) items.push_back({4 * (i % 100) - i, vector(50, 1, 1000 + i)});
  EXPECT_NE(repeats_bytes(*table_.sequence(items)), false);
}

/// Layouts at random, held against what each byte says.
TEST_F(TypeLayoutTest, IsWhatItsBytesAre) {
  std::mt19937 random(1);
  const auto below = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint32_t>(most)); };
  uint64_t overlapping = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<const TypeLayout *> all{ints(1), table_.predefined(ids::k_CHAR), table_.predefined(ids::k_SHORT_INT)};
    for (int step = 0; step < 4; ++step) {
      const TypeLayout *one = all[static_cast<size_t>(below(static_cast<int64_t>(all.size())))];
      const TypeLayout *other = all[static_cast<size_t>(below(static_cast<int64_t>(all.size())))];
      const TypeLayout *made = nullptr;
      switch (below(3)) {
        case 0:
          made = table_.repeated(1 + below(4), below(40) - 12, one);
          break;
        case 1:
          made = table_.sequence({{below(40) - 10, one}, {below(40) - 10, other}});
          break;
        default:
          made = table_.resized(one, below(8), 1 + below(20));
      }
      ASSERT_NE(made, nullptr);
      all.push_back(made);
    }
    const TypeLayout &first = *all[all.size() - 1];
    const TypeLayout &second = *all[all.size() - 2];
    std::map<int64_t, uint64_t> bytes;
    std::map<int64_t, uint64_t> others;
    count_bytes(first, 0, &bytes);
    const int64_t apart = below(60) - 30;
    count_bytes(second, apart, &others);
    uint64_t size = 0;
    uint64_t common = 0;
    bool twice = false;
    for (const auto &[at, count] : bytes) {
      size += count;
      twice = twice || count > 1;
      if (const auto there = others.find(at); there != others.end()) common += count * there->second;
    }
    EXPECT_EQ(static_cast<uint64_t>(first.size), size);
    ASSERT_FALSE(bytes.empty());
    EXPECT_EQ(first.true_lower_bound, bytes.begin()->first);
    EXPECT_EQ(first.true_upper_bound, bytes.rbegin()->first + 1);
    EXPECT_TRUE(!first.dense || bytes.size() == static_cast<size_t>(first.true_extent())) << i;
    EXPECT_EQ(repeats_bytes(first), twice) << i;
    EXPECT_EQ(common_bytes(first, second, apart), common) << i;
    overlapping += common != 0 ? 1 : 0;
  }
  EXPECT_GT(overlapping, 1000U);
}

}  // namespace
}  // namespace cairn::objects
