#include "mpi/store/polls.h"

#include <gtest/gtest.h>

#include "spec/ids.h"
#include "spec/spec.h"

namespace {

using cairn::Bytes;
using cairn::ByteWriter;
using cairn::recorder::polls_of;
using cairn::spec::Direction;
using cairn::spec::Function;
using cairn::trace::Atom;
using cairn::trace::Poll;
using cairn::trace::Row;
namespace function_id = cairn::spec::function_id;

/// A call whose every field is {1}, but that it returned `code`.
Row row_of(uint32_t function, Atom code = 0) {
  Row row;
  row.function = function;
  row.fields.resize(cairn::spec::functions()[function].parameter_count + size_t{1});
  for (cairn::trace::Field &field : row.fields) field.atoms = {1};
  row.fields.back().atoms = {code};
  return row;
}

Bytes packed(const Row &row) {
  ByteWriter out;
  pack_row(row, out);
  return out.take();
}

Poll poll_of(const Row &row) {
  const std::vector<Poll> polls = polls_of({packed(row)});
  return polls.empty() ? Poll() : polls[0];
}

TEST(Polls, AreSuccessfulOrNotByTheirAnswer) {
  for (const Function &function : cairn::spec::functions()) {
    if (function.answer == 0) continue;
    Row row = row_of(function.id);
    const Poll found = poll_of(row);
    EXPECT_EQ(found.kind, Poll::successful) << function.name;
    Row nothing = row;
    for (unsigned p = 0; p < function.parameter_count; ++p) {
      if (function.parameters[p].direction == Direction::out) nothing.fields[p] = {};
    }
    nothing.fields[function.answer - 1U].atoms = {0};
    EXPECT_EQ(found.unsuccessful_form, packed(nothing)) << function.name;
    EXPECT_EQ(poll_of(nothing).kind, Poll::unsuccessful) << function.name;
    EXPECT_EQ(found.first_output != 0, function.completed != 0) << function.name;
  }
}

TEST(Polls, DrainsBeginTheirOutputsBehindTheArray) {
  const Poll any = poll_of(row_of(function_id::Waitany));
  EXPECT_EQ(any.kind, Poll::none);
  EXPECT_EQ(any.first_output, 2U);
  EXPECT_EQ(any.answer, 0U);
  const Poll some = poll_of(row_of(function_id::Testsome));
  EXPECT_EQ(some.first_output, 2U);
  EXPECT_EQ(some.answer, 2U);
  const Poll tested = poll_of(row_of(function_id::Testany));
  EXPECT_EQ(tested.answer, 3U);
}

TEST(Polls, WhatFailedOrIsAboutNothingIsNone) {
  EXPECT_EQ(poll_of(row_of(function_id::Test, 17)).kind, Poll::none);
  EXPECT_EQ(poll_of(row_of(function_id::Waitsome, 17)).first_output, 0U);
  Row row = row_of(function_id::Testsome);
  row.fields[2].atoms = {cairn::trace::special(cairn::trace::kFirstConstant)};  // MPI_UNDEFINED
  EXPECT_EQ(poll_of(row).kind, Poll::none);
  EXPECT_TRUE(polls_of({packed(row_of(function_id::Send)), packed(row_of(function_id::Wait))}).empty());
}

TEST(Polls, RowsThatAreNoneHaveTheirPlaceInTheList) {
  const std::vector<Poll> polls =
      polls_of({packed(row_of(function_id::Send)), packed(row_of(function_id::Iprobe)), {}});
  ASSERT_EQ(polls.size(), 3U);
  EXPECT_EQ(polls[0].kind, Poll::none);
  EXPECT_EQ(polls[1].kind, Poll::successful);
}

}  // namespace
