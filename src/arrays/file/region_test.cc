#include "arrays/file/region.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace cairn::arrays {
namespace {

/// The offset of every byte of a region, in order.
std::vector<uint64_t> spelled(std::span<const Region> regions) {
  std::vector<uint64_t> bytes;
  for (const Region &region : regions) {
    for (RunCursor runs(region); !runs.done(); runs.next()) {
      EXPECT_EQ(runs.position() % region.run, 0U);
      for (uint64_t i = 0; i < runs.run().bytes; ++i) bytes.push_back(runs.run().offset + i);
    }
  }
  return bytes;
}
std::vector<uint64_t> spelled(const Region &region) { return spelled({&region, 1}); }

Region random_region(std::mt19937 *random) {
  const auto below = [&](uint64_t limit) { return (*random)() % limit; };
  Region region;
  region.offset = below(50);
  region.run = 1 + below(6);
  for (uint64_t levels = below(4); levels > 0; --levels) {
    EXPECT_TRUE(region.repeat(1 + below(4), region.end() - region.offset + below(7)));
  }
  return region;
}

TEST(Region, EqualSetsOfBytesAreEqualRegions) {
  Region rows;  // a 3 x 4 box of 8-byte values that fills its rows
  rows.run = 8;
  ASSERT_TRUE(rows.repeat(4, 8));
  ASSERT_TRUE(rows.repeat(3, 32));
  Region whole;
  whole.run = 96;
  EXPECT_EQ(rows, whole);
}

TEST(Region, RefusesWhatIsNotInFileOrder) {
  Region region;
  region.run = 4;
  ASSERT_TRUE(region.repeat(3, 10));
  const Region before = region;
  EXPECT_FALSE(region.repeat(2, 23));
  EXPECT_EQ(region, before);
  EXPECT_TRUE(region.repeat(2, 24));
}

TEST(Region, CutGivesTheBytesOfAStretch) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Region regions[] = {random_region(&random)};
    const std::vector<uint64_t> all = spelled(regions[0]);
    const uint64_t from = random() % all.size();
    const uint64_t bytes = random() % (all.size() - from + 1);
    const Regions pieces = cut(regions, from, bytes);
    const auto begin = all.begin() + static_cast<ptrdiff_t>(from);
    EXPECT_EQ(spelled(pieces), std::vector<uint64_t>(begin, begin + static_cast<ptrdiff_t>(bytes)));
  }
}

TEST(Region, FoldKeepsEveryByteInOrder) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    Regions runs;
    uint64_t at = 0;
    for (int j = 0; j < 3; ++j) {
      Region region = random_region(&random);
      region.offset += at;
      at = region.end();
      for (RunCursor cursor(region); !cursor.done(); cursor.next()) {
        Region run;
        run.offset = cursor.run().offset;
        run.run = cursor.run().bytes;
        runs.push_back(run);
      }
    }
    const Regions folded = fold(runs);
    EXPECT_EQ(spelled(folded), spelled(runs));
    EXPECT_LE(folded.size(), runs.size());
  }
}

TEST(Region, FoldFindsABox) {
  Regions runs;
  for (uint64_t plane = 0; plane < 5; ++plane) {
    for (uint64_t row = 0; row < 7; ++row) {
      Region run;
      run.offset = 1000 + plane * 900 + row * 40;
      run.run = 12;
      runs.push_back(run);
    }
  }
  const Regions folded = fold(runs);
  ASSERT_EQ(folded.size(), 1U);
  EXPECT_EQ(folded[0].depth, 2);
}

TEST(Region, CommonBytesAreFoundWhereTheyAre) {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    const Region a = random_region(&random);
    const Region b = random_region(&random);
    std::map<uint64_t, uint64_t> in_b;
    uint64_t position = 0;
    for (const uint64_t offset : spelled(b)) in_b[offset] = position++;
    std::vector<std::pair<uint64_t, uint64_t>> expected;
    position = 0;
    for (const uint64_t offset : spelled(a)) {
      if (in_b.contains(offset)) expected.emplace_back(position, in_b[offset]);
      ++position;
    }
    std::vector<std::pair<uint64_t, uint64_t>> found;
    for_each_common(a, b, [&](uint64_t in_a, uint64_t at_b, uint64_t bytes) {
      for (uint64_t k = 0; k < bytes; ++k) found.emplace_back(in_a + k, at_b + k);
      return true;
    });
    EXPECT_EQ(found, expected);
    EXPECT_EQ(overlap(a, b), !expected.empty());
  }
}

TEST(Region, InterleavedRegionsAreToldApartWithoutAWalk) {
  std::mt19937 random(4);
  size_t apart = 0;
  for (int i = 0; i < 3000; ++i) {
    Region a;
    Region b;
    for (Region *each : {&a, &b}) {
      each->offset = random() % 40;
      each->run = 1 + random() % 8;
      ASSERT_TRUE(each->repeat(1 + random() % 2, each->run + random() % 2));
      ASSERT_TRUE(each->repeat(2 + random() % 4, 20));
    }
    bool common = false;
    for_each_common(a, b, [&](uint64_t, uint64_t, uint64_t) { return !(common = true); });
    EXPECT_EQ(overlap(a, b), common);
    EXPECT_EQ(overlap(b, a), common);
    apart += common ? 0 : 1;
  }
  EXPECT_GT(apart, 500U);
  // A walk along these would take hours.
  Region records;
  records.run = 4;
  ASSERT_TRUE(records.repeat(uint64_t{1} << 40, 1000));
  Region others = records;
  others.offset = 500;
  EXPECT_FALSE(overlap(records, others));
}

}  // namespace
}  // namespace cairn::arrays
