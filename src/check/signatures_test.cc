#include "check/signatures.h"

#include <gtest/gtest.h>

#include "spec/ids.h"

namespace cairn::check {
namespace {

namespace ids = spec::constant_id;

class SignaturesTest : public ::testing::Test {
 protected:
  Stretch of(std::vector<check::Run> runs, uint64_t times) { return {table_.of(std::move(runs)), times}; }
  Stretch predefined(int type, uint64_t times) {
    Stretch stretch = *table_.predefined(type);
    stretch.times *= times;
    return stretch;
  }
  Signatures table_;
};

TEST_F(SignaturesTest, AreWhatMessagesConsistOf) {
  EXPECT_EQ(match(predefined(ids::k_INT, 3), predefined(ids::k_INT, 3)), Match::same);
  EXPECT_EQ(match(predefined(ids::k_INT, 3), predefined(ids::k_INT, 4)), Match::shorter);
  EXPECT_EQ(match(predefined(ids::k_INT, 5), predefined(ids::k_INT, 4)), Match::longer);
  EXPECT_EQ(match(predefined(ids::k_INT, 1), predefined(ids::k_FLOAT, 1)), Match::differs);
  EXPECT_EQ(match(predefined(ids::k_INT, 0), predefined(ids::k_FLOAT, 1)), Match::shorter);
  EXPECT_EQ(match(predefined(ids::k_INT, 0), predefined(ids::k_FLOAT, 0)), Match::same);
  EXPECT_EQ(match(predefined(ids::k_BYTE, 4), predefined(ids::k_INT, 1)), Match::differs);
  EXPECT_EQ(match(predefined(ids::k_PACKED, 4), predefined(ids::k_INT, 2)), Match::unknown);
}

TEST_F(SignaturesTest, LookThroughRepetition) {
  const Stretch pairs = of({{ids::k_INT, 1}, {ids::k_DOUBLE, 2}}, 6);
  EXPECT_EQ(match(pairs, of({{ids::k_INT, 1}, {ids::k_DOUBLE, 2}, {ids::k_INT, 1}, {ids::k_DOUBLE, 2}}, 3)),
            Match::same);
  EXPECT_EQ(match(pairs, of({{ids::k_INT, 1}, {ids::k_DOUBLE, 2}, {ids::k_INT, 1}}, 1)), Match::longer);
  EXPECT_EQ(match(of({{ids::k_INT, 1}, {ids::k_DOUBLE, 1}}, 1), pairs), Match::shorter);
  EXPECT_EQ(match(of({{ids::k_INT, 1}, {ids::k_DOUBLE, 3}}, 1), pairs), Match::differs);
  // A run may go on where a turn ends: 2 ints, 2 floats and 2 ints, twice, is 2, 2, 4, 2, 2.
  const Stretch turns = of({{ids::k_INT, 2}, {ids::k_FLOAT, 2}, {ids::k_INT, 2}}, 2);
  EXPECT_EQ(
      match(turns, of({{ids::k_INT, 2}, {ids::k_FLOAT, 2}, {ids::k_INT, 4}, {ids::k_FLOAT, 2}, {ids::k_INT, 2}}, 1)),
      Match::same);
  EXPECT_EQ(turns.elements(), 12U);
  EXPECT_EQ(turns.bytes(), 48U);
  // Never so long that it takes all day.
  EXPECT_EQ(match(of({{ids::k_INT, 1}, {ids::k_FLOAT, 1}}, 1U << 30),
                  of({{ids::k_INT, 1}, {ids::k_FLOAT, 1}, {ids::k_INT, 1}, {ids::k_FLOAT, 1}}, 1U << 29)),
            Match::unknown);
}

TEST_F(SignaturesTest, HaveOneNameForOneType) {
  EXPECT_EQ(match(predefined(ids::k_LONG_LONG_INT, 2), predefined(ids::k_LONG_LONG, 2)), Match::same);
  EXPECT_EQ(match(predefined(ids::k_2INT, 2), predefined(ids::k_INT, 4)), Match::same);
  EXPECT_EQ(match(predefined(ids::k_DOUBLE_INT, 2),
                  of({{ids::k_DOUBLE, 1}, {ids::k_INT, 1}, {ids::k_DOUBLE, 1}, {ids::k_INT, 1}}, 1)),
            Match::same);
  EXPECT_FALSE(table_.predefined(ids::k_DATATYPE_NULL));
  EXPECT_EQ(predefined(ids::k_INT, 3).text(), "3 MPI_INT");
  EXPECT_EQ(of({{ids::k_INT, 1}, {ids::k_DOUBLE, 2}}, 6).text(), "6 x {1 MPI_INT, 2 MPI_DOUBLE}");
  EXPECT_EQ(predefined(ids::k_INT, 0).text(), "nothing");
}

}  // namespace
}  // namespace cairn::check
