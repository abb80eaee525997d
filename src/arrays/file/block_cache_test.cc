#include "arrays/file/block_cache.h"

#include <gtest/gtest.h>

namespace cairn::arrays {
namespace {

TEST(BlockCache, KnowsABlockByNumberAndSequence) {
  BlockCache cache;
  EXPECT_EQ(cache.find(3, 7), nullptr);
  cache.keep(3, 7, Bytes{1, 2});
  ASSERT_NE(cache.find(3, 7), nullptr);
  EXPECT_EQ(*cache.find(3, 7), (Bytes{1, 2}));
  EXPECT_EQ(cache.find(3, 8), nullptr);
  EXPECT_EQ(cache.find(4, 7), nullptr);  // two blocks of one sequence number are two
  cache.keep(3, 8, Bytes{5});
  EXPECT_EQ(cache.find(3, 7), nullptr);
  EXPECT_EQ(*cache.find(3, 8), Bytes{5});
  cache.clear();
  EXPECT_EQ(cache.find(3, 8), nullptr);
}

TEST(BlockCache, LetsGoOfWhatWasNotUsedForLongest) {
  BlockCache cache;
  const Bytes large(uint64_t{24} << 20);
  cache.keep(0, 1, large);
  const BlockCache::Values held = cache.find(0, 1);
  cache.keep(1, 1, large);
  EXPECT_NE(cache.find(0, 1), nullptr);  // now the last used
  cache.keep(2, 1, large);
  EXPECT_NE(cache.find(0, 1), nullptr);
  EXPECT_EQ(cache.find(1, 1), nullptr);
  cache.keep(3, 1, large);
  cache.keep(4, 1, large);
  EXPECT_EQ(cache.find(0, 1), nullptr);
  EXPECT_EQ(held->size(), large.size());  // what was handed out stays
}

}  // namespace
}  // namespace cairn::arrays
