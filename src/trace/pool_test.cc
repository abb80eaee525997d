// What rows refer to, as the section `columns` has it: it is read as it was written, and nonsense is refused.
#include <gtest/gtest.h>

#include "trace/pool_reader.h"

namespace cairn::trace {
namespace {

FoldColumn irregular(uint64_t seed, size_t count, Atom least) {
  FoldColumn column;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    column.append(least + static_cast<Atom>(i == 0 ? 0 : i == 1 ? 255 : seed >> 56));
  }
  return column;
}

TEST(Pool, TellsOnceHowLikeIrregularColumnsBegin) {
  std::vector<FoldColumn> columns;
  for (uint64_t i = 0; i < 8; ++i) columns.push_back(irregular(i, 200, 70'000 + 100 * static_cast<Atom>(i)));
  columns.push_back(irregular(8, 150, -70'000));  // another number of values
  columns.push_back(irregular(9, 150, kSpecialLast + 1));
  columns.push_back(FoldColumn::constant(3, 150));
  columns.push_back(irregular(10, 150, INT64_MAX - 255));
  PoolWriter writer(true);
  for (const FoldColumn &column : columns) writer.column(column);
  ByteWriter out;
  writer.write(out);
  // The first of a kind says in seven bytes what the next ones say in three, or in eleven where the least is far away.
  EXPECT_LT(out.size(), 207U + 7 * 203 + 157 + 2 * 161 + 10);
  Pool pool;
  PoolReader reader(pool);
  ByteReader in(out.view());
  ASSERT_TRUE(reader.read(in)) << reader.what();
  EXPECT_TRUE(in.at_end());
  ASSERT_EQ(pool.columns.size(), columns.size());
  for (size_t i = 0; i < columns.size(); ++i) EXPECT_EQ(pool.columns[i]->expand(), columns[i].expand()) << i;
}

TEST(Pool, RefusesAColumnLikeNone) {
  ByteWriter out;
  out.varint(0);
  out.varint(1);
  out.varint(kEqualAgain);
  for (int i = 0; i < 20; ++i) out.byte(1);
  Pool pool;
  PoolReader reader(pool);
  ByteReader in(out.view());
  EXPECT_FALSE(reader.read(in));
  EXPECT_EQ(reader.what(), "has a column like one that is not there");
}

TEST(Pool, FailsWhereAColumnLikeTheLastEnds) {
  PoolWriter writer(true);
  for (uint64_t i = 0; i < 3; ++i) writer.column(irregular(i, 100, 0));
  ByteWriter out;
  writer.write(out);
  const Bytes bytes = out.take();
  for (size_t size = 0; size < bytes.size(); ++size) {
    Pool pool;
    PoolReader reader(pool);
    ByteReader in(ByteView(bytes).first(size));
    EXPECT_FALSE(reader.read(in) && !in.failed()) << size;
  }
}

}  // namespace
}  // namespace cairn::trace
