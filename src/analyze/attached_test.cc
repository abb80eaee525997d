// Segments of dynamic windows, read from calls that are made up.
#include "analyze/attached.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "analyze/attached_pairs.h"
#include "analyze/sequence_of.h"
#include "trace/model/record.h"

namespace cairn::analyze {
namespace {

using trace::Atom;

trace::Row call(const char *name, std::vector<std::vector<Atom>> fields) {
  trace::Row row;
  row.function = spec::find_function(name)->id;
  for (auto &atoms : fields) row.fields.push_back({false, std::move(atoms), {}});
  return row;
}
trace::Row attach(std::vector<Atom> base, Atom size) {
  return call("MPI_Win_attach", {{1, 0}, std::move(base), {size}, {0}});
}

trace::Trace trace_of(const std::vector<trace::Row> &rows) {
  trace::ProcessRecord process;
  process.modules = {{{1, 2, 3}, "/bin/app"}};
  trace::SequenceRecord sequence = sequence_of(rows);
  sequence.sites = {{}, {0, 0x10}};
  process.sequences = {sequence};
  auto part = trace::Part::of(process);
  auto trace = trace::Trace::from_bytes(*part->to_file({}), "test");
  if (!trace) throw std::runtime_error(trace.error().message);
  return std::move(*trace);
}

TEST(Attached, ASegmentIsWhereTheNumberBehindItsNameSays) {
  const auto segment = attached_by(attach({trace::kHeap, 3, 16, 0x5000}, 64), 2);
  ASSERT_TRUE(segment);
  EXPECT_EQ(*segment, (Segment{0x5000, 64, trace::kHeap, 3, 16, 0}));
  EXPECT_TRUE(segment->holds(0x5000) && segment->holds(0x503f));
  EXPECT_FALSE(segment->holds(0x4fff) || segment->holds(0x5040));
  EXPECT_EQ(attached_by(attach({trace::kStack, 0, 16, 0x5000}, 64), 2)->thread, 2U);
}

TEST(Attached, WhatSaysNothingIsNoSegment) {
  EXPECT_FALSE(attached_by(attach({trace::kHeap, 3, 16}, 64), 0)) << "of an older trace";
  EXPECT_FALSE(attached_by(attach({trace::kNull, 0, 0}, 0), 0));
  EXPECT_FALSE(attached_by(attach({}, 64), 0));
  EXPECT_FALSE(attached_by(attach({trace::kHeap, 3, 16, 0x5000}, -1), 0));
  EXPECT_FALSE(attached_by(call("MPI_Win_attach", {{1, 0}}), 0));
  EXPECT_FALSE(attached_by(call("MPI_Win_detach", {{1, 0}, {trace::kHeap, 3, 16, 0x5000}, {0}}), 0));
}

TEST(Attached, NumbersOfAddressesWithAndWithoutAName) {
  const auto raw = [](std::vector<Atom> atoms) { return raw_address({false, std::move(atoms), {}}); };
  EXPECT_EQ(raw({trace::kInteger, 0, 0x7000}), 0x7000U);
  EXPECT_EQ(raw({trace::kMapping, 1, 8, 0x7008}), 0x7008U);
  EXPECT_FALSE(raw({trace::kMapping, 1, 8}));
  EXPECT_FALSE(raw({trace::kNull, 0, 0}));
  EXPECT_FALSE(raw({}));
}

TEST(Attached, SegmentsOfARankAreDistinctAndAscending) {
  const trace::Row low = attach({trace::kHeap, 1, 0, 0x5000}, 64);
  const trace::Row high = attach({trace::kHeap, 2, 0, 0x9000}, 64);
  const trace::Trace trace = trace_of({high, low});
  EXPECT_TRUE(attaches(trace));
  const auto segments = attached_segments(trace, 0);
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0].raw, 0x5000U);
  EXPECT_EQ(segments[1].raw, 0x9000U);
  EXPECT_FALSE(attaches(trace_of({call("MPI_Finalize", {{0}})})));
}

TEST(Attached, AnAddressOfOneRunIsThatOfTheOtherAtTheSamePlaceOfTheSameSegment) {
  const trace::Trace first =
      trace_of({attach({trace::kHeap, 1, 0, 0x9000}, 64), attach({trace::kHeap, 2, 0, 0x5000}, 32)});
  const trace::Trace second =
      trace_of({attach({trace::kMapping, 0, 7, 0x100}, 64), attach({trace::kMapping, 1, 0, 0x800}, 32)});
  const analyze::Run one(first);
  const analyze::Run other(second);
  AttachedPairs pairs(one, other);
  EXPECT_TRUE(pairs.same(0x9008, 0x108));
  EXPECT_TRUE(pairs.same(0x501f, 0x81f));
  EXPECT_TRUE(pairs.same(0x5020, 0x820)) << "one past the end";
  EXPECT_FALSE(pairs.same(0x9008, 0x110)) << "another place";
  EXPECT_FALSE(pairs.same(0x9008, 0x808)) << "another segment";
  EXPECT_FALSE(pairs.same(0x4fff, 0x7ff)) << "of no segment";
}

}  // namespace
}  // namespace cairn::analyze
