// What rows refer to, as the section `columns` has it: it is read as it was written, and nonsense is refused.
#include <gtest/gtest.h>

#include "trace/code/pool_reader.h"
#include "trace/values/column_head.h"
#include "trace/values/equal_columns.h"
#include "trace/values/run_columns.h"

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

struct Written {
  size_t bytes = 0;
  Pool pool;  ///< what is read of them
};

/// The columns, written and read.
void write_and_read(const std::vector<FoldColumn> &columns, Written *result) {
  PoolWriter writer;
  for (const FoldColumn &column : columns) writer.column(column);
  ByteWriter out;
  writer.write(out);
  result->bytes = out.size();
  PoolReader reader(result->pool);
  ByteReader in(out.view());
  ASSERT_TRUE(reader.read(in)) << reader.what();
  EXPECT_TRUE(in.at_end());
  ASSERT_EQ(result->pool.columns.size(), columns.size());
}

TEST(Pool, TellsOnceHowLikeIrregularColumnsBegin) {
  std::vector<FoldColumn> columns;
  for (uint64_t i = 0; i < 12; ++i) columns.push_back(irregular(i, 200, 70'000));
  columns.push_back(irregular(12, 150, -70'000));  // another number of values
  columns.push_back(irregular(13, 150, kSpecialLast + 1));
  columns.push_back(FoldColumn::constant(3, 150));
  columns.push_back(irregular(14, 150, INT64_MAX - 255));
  Written written;
  ASSERT_NO_FATAL_FAILURE(write_and_read(columns, &written));
  // Twelve of 200 values begin but once, and those of 150 that are far apart each for itself.
  EXPECT_LT(written.bytes, 12U * 200 + 10 + 3 * (150 + 16) + 10);
  for (size_t i = 0; i < columns.size(); ++i) EXPECT_EQ(written.pool.columns[i]->expand(), columns[i].expand()) << i;
}

TEST(Pool, TellsTogetherColumnsThatChangeAtTheSameRanks) {
  std::vector<FoldColumn> columns;
  const auto odd = [&columns](uint64_t before, uint64_t after, Atom value, Atom others) {
    FoldColumn column;
    if (before != 0) column.append(others, before);
    column.append(value);
    if (after != 0) column.append(others, after);
    columns.push_back(std::move(column));
  };
  for (Atom i = 0; i < 20; ++i) odd(1'000'000, 2'000'000, 40'000 + 1'713 * i, 8);
  for (Atom i = 0; i < 20; ++i) odd(0, 9, -3'000'000 - 40'717 * i, -3'000'000);
  for (uint64_t i = 0; i < 20; ++i) columns.push_back(irregular(i, 3, 500));
  odd(5, 5, kSpecialFirst + 3, 100'000);                   // special
  odd(5, 5, INT64_MAX, kSpecialLast + 1);                  // far apart
  odd(5, 5, INT64_MAX - 7, kSpecialLast + 9);              // the same
  for (Atom i = 0; i < 9; ++i) odd(10, 3, 70'000 * i, 9);  // values of other widths
  Written written;
  ASSERT_NO_FATAL_FAILURE(write_and_read(columns, &written));
  EXPECT_LT(written.bytes, 20U * 2 + 20 * 3 + 20 * 3 + 3 * 30 + 9 * 3 + 80);
  const Pool &pool = written.pool;
  for (size_t i = 0; i < columns.size(); ++i) {
    ASSERT_EQ(pool.columns[i]->size(), columns[i].size()) << i;
    for (const uint64_t at : {uint64_t{0}, uint64_t{1}, columns[i].size() / 3, columns[i].size() - 1}) {
      if (at < columns[i].size()) {
        EXPECT_EQ(pool.columns[i]->at(at), columns[i].at(at)) << i << " at " << at;
      }
    }
  }
  EXPECT_EQ(pool.columns[3]->at(1'000'000), 40'000 + 1'713 * 3);
}

/// What is read of a section with so many columns, after these numbers and some bytes.
std::string said_of(uint64_t columns, const std::vector<uint64_t> &numbers, size_t bytes) {
  ByteWriter out;
  out.varint(0);
  out.varint(columns);
  for (const uint64_t number : numbers) out.varint(number);
  for (size_t i = 0; i < bytes; ++i) out.byte(0);
  Pool pool;
  PoolReader reader(pool);
  ByteReader in(out.view());
  return reader.read(in) && !in.failed() ? "" : reader.what();
}

TEST(Pool, RefusesSeveralThatAreNotThere) {
  const std::string refused = "has several columns that end early";
  EXPECT_EQ(said_of(2, {kEqualColumns, 2, 10, 1, 0}, 20 + 1), "") << "with a table's number";
  EXPECT_EQ(said_of(2, {kEqualColumns, 3, 10, 1, 0}, 31), refused) << "more than the section has";
  EXPECT_EQ(said_of(9, {kEqualColumns, 0, 10, 1, 0}, 31), refused);
  EXPECT_EQ(said_of(2, {kEqualColumns, 2, 0, 1, 0}, 31), refused);
  EXPECT_EQ(said_of(2, {kEqualColumns, 2, 2, 8, 0}, 99), refused) << "values of eight bytes";
  EXPECT_EQ(said_of(2, {kEqualColumns, 2, 2, 0, 0}, 99), refused) << "values of no bytes";
  EXPECT_EQ(said_of(2, {kEqualColumns, 2, 10, 1, 0}, 19), refused);
  EXPECT_EQ(said_of(uint64_t{1} << 40, {kEqualColumns, uint64_t{1} << 40, 1, 1, 0}, 50), "is malformed");
}

TEST(Pool, RefusesRunsThatCannotBe) {
  const std::string refused = "has several columns that end early";
  // Columns, values of each; a run, bytes of a value, the least; the values.
  EXPECT_EQ(said_of(2, {kRunColumns, 2, 10, 10, 1, 0}, 2 + 1), "") << "with a table's number";
  EXPECT_EQ(said_of(2, {kRunColumns, 3, 10, 10, 1, 0}, 9), refused) << "more than the section has";
  EXPECT_EQ(said_of(9, {kRunColumns, 0, 10, 10, 1, 0}, 31), refused);
  EXPECT_EQ(said_of(2, {kRunColumns, 2, 0, 1, 1, 0}, 9), refused) << "columns of no values";
  EXPECT_EQ(said_of(2, {kRunColumns, 2, 10, 0, 1, 0}, 99), refused) << "an empty run";
  EXPECT_EQ(said_of(2, {kRunColumns, 2, 10, 11, 1, 0}, 99), refused) << "a run past the end";
  EXPECT_EQ(said_of(2, {kRunColumns, 2, 10, 10, 8, 0}, 99), refused) << "values of eight bytes";
  EXPECT_EQ(said_of(2, {kRunColumns, 2, 10, 10, 1, 0}, 1), refused);
  EXPECT_EQ(said_of(2, {kRunColumns, 2, kMaxRanks + 1, kMaxRanks + 1, 0, 0}, 9), refused);
  const uint64_t special_least = UINT64_MAX;  // as a signed varint, INT64_MIN
  EXPECT_EQ(said_of(2, {kRunColumns, 2, 10, 10, 0, special_least}, 9), refused);
}

TEST(Pool, FailsWhereItEnds) {
  PoolWriter writer;
  for (uint64_t i = 0; i < 3; ++i) writer.column(irregular(i, 100, 0));
  for (uint64_t i = 0; i < 3; ++i) writer.column(irregular(i, 4, 0));
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
