#include "trace/read/corrections.h"

#include <gtest/gtest.h>

#include "base/allowance.h"
#include "trace/read/edit.h"
#include "trace/read/events.h"
#include "trace/read/trace.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

Knots knots(std::vector<Knot> all) {
  Knots made;
  for (const Knot knot : all) EXPECT_TRUE(made.add(knot));
  return made;
}

Result<Corrections> parsed(const Bytes &bytes, uint64_t ranks) {
  Allowance allowance(1 << 20);
  return Corrections::parse({static_cast<uint8_t>(SectionKind::corrections), bytes, 0, false}, ranks, &allowance);
}

TEST(Knots, AreJoinedByLines) {
  const Knots some = knots({{100, 0}, {200, 50}, {201, 1000}, {2201, 0}});
  EXPECT_EQ(some.of(0), 0);
  EXPECT_EQ(some.of(101), 0);
  EXPECT_EQ(some.of(102), 1);
  EXPECT_EQ(some.of(200), 50);
  EXPECT_EQ(some.of(201), 1000);
  EXPECT_EQ(some.of(202), 1000);  // towards the first
  EXPECT_EQ(some.of(203), 999);
  EXPECT_EQ(some.of(5000), 0);
}

TEST(Knots, HaveAnOrder) {
  Knots some = knots({{100, 50}, {149, 1}});
  EXPECT_FALSE(some.add({149, 5})) << "two at one moment";
  EXPECT_TRUE(some.add({150, 0}));
  EXPECT_FALSE(some.add({Knots::kMost + 1, 0}));
  for (uint64_t at = 0; at < 200; ++at) EXPECT_LE(at + some.of(at), at + 1 + some.of(at + 1)) << at;
}

TEST(Corrections, AreReadAsTheyWereWritten) {
  Corrections some;
  some.arrivals = 1000;
  some.reversed = 7;
  some.largest_ns = Knots::kMost;
  some.ranks = {{knots({{0, 5}, {10, 0}}), {}}, {{}, knots({{1, Knots::kMost}})}};
  const Bytes bytes = some.write();
  const auto read = parsed(bytes, 2);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->arrivals, 1000);
  EXPECT_EQ(read->ranks, some.ranks);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(parsed({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)}, 2).has_value()) << cut;
  }
  EXPECT_FALSE(parsed(bytes, 1).has_value());
  EXPECT_FALSE(parsed(bytes, 3).has_value());
}

TEST(Corrections, MoveTheCallsOfTheirRank) {
  const std::vector<ProcessRecord> processes = lossless_program(4, 2);
  Part part = *Part::of(processes[0]);
  for (size_t i = 1; i < processes.size(); ++i) part = *Part::merge(std::move(part), *Part::of(processes[i]));
  const Trace plain =
      *Trace::from_bytes(*part.to_file({"command", "mpi", "cairn", "lossless", "complete", 1, 2}), "plain");
  ASSERT_TRUE(plain.axis().common());
  const std::vector<uint32_t> ranks = plain.ranks();
  ASSERT_GE(ranks.size(), 2);
  Corrections some;
  some.ranks.resize(ranks.size());
  some.ranks[1].after = knots({{0, 1000}});
  some.ranks[1].before = knots({{0, 0}, {1000, 1000}});
  Trace moved = *Trace::from_bytes(with_corrections(plain, some), "moved");
  ASSERT_NE(moved.axis().corrections(), nullptr);
  const auto compare = [&](size_t place, bool is_moved) {
    const Axis::Place at = plain.axis().at(place);
    Events before(plain, ranks[place]);
    Events after(moved, ranks[place]);
    size_t calls = 0;
    while (const Event *call = before.next()) {
      const Event *again = after.next();
      ASSERT_NE(again, nullptr);
      if (!call->timed) continue;
      ++calls;
      const auto shift = [&](uint64_t ns) {
        return is_moved ? 1000 + std::min<uint64_t>(at.since_begin(ns), 1000) : 0;
      };
      EXPECT_EQ(again->begin_ns, call->begin_ns + shift(call->begin_ns));
      EXPECT_EQ(again->duration_ns, call->duration_ns);
      EXPECT_EQ(again->end_ns, call->end_ns + shift(call->end_ns));
    }
    EXPECT_GT(calls, 0);
  };
  compare(0, false);
  compare(1, true);
  moved.take_corrections_back();
  compare(1, false);
  // In place of any that there are.
  const Trace again = *Trace::from_bytes(with_corrections(moved, {7, 0, 0, 0, 0, 0, {{}, {}, {}, {}}}), "again");
  ASSERT_NE(again.axis().corrections(), nullptr);
  EXPECT_EQ(again.axis().corrections()->arrivals, 7);
}

}  // namespace
}  // namespace cairn::trace
