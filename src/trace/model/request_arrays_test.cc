// Requests that are drained: whoever reads in order sees each array in full, and a drain in order costs two rows.
#include "trace/model/request_arrays.h"

#include <gtest/gtest.h>

#include <utility>

#include "trace/merge/part.h"
#include "trace/read/call_reader.h"
#include "trace/read/trace.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

Trace merged(const std::vector<ProcessRecord> &processes) {
  Part part;
  for (const ProcessRecord &process : processes) part = *Part::merge(std::move(part), *Part::of(process));
  return *Trace::from_bytes(*part.to_file(RunInfo{}), "drained");
}

std::vector<Row> calls_of(const Trace &trace, uint32_t rank) {
  std::vector<Row> calls;
  for (const SequenceView &sequence : trace.sequences(rank)) {
    CallReader reader(trace, sequence);
    for (auto call = reader.next(); call != grammar::kNoSymbol; call = reader.next())
      calls.push_back(reader.call(call));
  }
  return calls;
}

void expect_same_fields(const std::vector<Row> &found, const std::vector<Row> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].fields.size(), expected[i].fields.size()) << i;
    for (size_t f = 0; f < found[i].fields.size(); ++f) {
      EXPECT_EQ(found[i].fields[f].atoms, expected[i].fields[f].atoms) << "call " << i << ", field " << f;
    }
  }
}

TEST(RequestArrays, EachCallHasItsArrayInFull) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const DrainingProgram program = draining_program(3, seed, seed % 4 == 0);
    const Trace trace = merged(program.processes);
    for (uint32_t rank = 0; rank < 3; ++rank) expect_same_fields(calls_of(trace, rank), program.calls[rank]);
  }
}

TEST(RequestArrays, AnArrayDrainedInOrderCostsAFewRowsWhateverItsLength) {
  const Trace trace = merged(draining_program(4, 1, true).processes);
  ASSERT_EQ(trace.class_count(), 1U);
  // At each of the two call sites: the array, as left by the other's call, and as left after that.
  EXPECT_LE(trace.class_view(0).rows, 6U);
}

TEST(RequestArrays, RowsReadByThemselvesSayWhatTheyCannotKnow) {
  const DrainingProgram program = draining_program(1, 1, true);
  const Trace trace = merged(program.processes);
  uint64_t written = 0;
  uint64_t left = 0;
  for (const CountedRow &call : trace.counted_rows(trace.sequences(0)[0])) {
    const std::vector<Atom> &requests = call.row.fields[1].atoms;
    if (requests == std::vector<Atom>{kAsLeft}) {
      EXPECT_EQ(call.row.fields[2].atoms, std::vector<Atom>{kUnknown});
      left += call.count;
    } else {
      EXPECT_EQ(requests, program.calls[0][0].fields[1].atoms);
      EXPECT_EQ(call.row.fields[2].atoms, std::vector<Atom>{0});
      written += call.count;
    }
  }
  EXPECT_EQ(written, 16U);  // 80 calls over arrays of 5
  EXPECT_EQ(left, 64U);
}

Row draining(const std::vector<Atom> &requests, const std::vector<Atom> &completed) {
  Row row;
  row.fields = {{false, requests, {}}, {false, completed, {}}};
  return row;
}

TEST(RequestArrays, WhatContradictsItselfIsLeftAsItIs) {
  RequestArrays arrays;
  const auto play = [&arrays](Row row) {
    const auto field = DrainedField::of(row);
    EXPECT_TRUE(field.has_value());
    const uint32_t left = arrays.complete(&row, *field, arrays.found(row, *field));
    arrays.leave(*field, left);
    return row;
  };
  const std::vector<Atom> nowhere = {kRequests + 1, 0};
  EXPECT_EQ(play(draining(nowhere, {0})).fields[0].atoms, nowhere);  // nothing was left yet
  const std::vector<Atom> two = {kRequests + 1, 3, 0, 3, 1};
  EXPECT_EQ(play(draining(two, {7})).fields[1].atoms, std::vector<Atom>{7});  // no such request
  EXPECT_EQ(play(draining({kRequests + 1, 0}, {-1})).fields[0].atoms, (std::vector<Atom>{3, 0, 3, 1}));
  EXPECT_EQ(play(draining({kRequests + 1, 8}, {})).fields[0].atoms, (std::vector<Atom>{kRequests + 1, 8}));
  EXPECT_FALSE(DrainedField::of(draining({kRequests + 2, 0}, {})).has_value());  // speaks of a field that is not there
  EXPECT_FALSE(DrainedField::of(draining({kRequests + 1, -1}, {})).has_value());
  EXPECT_FALSE(DrainedField::of(draining({kRequests + 1, 1, 2, 3}, {})).has_value());
  EXPECT_FALSE(DrainedField::of(draining({kRequests + 1}, {})).has_value());
}

}  // namespace
}  // namespace cairn::trace
