// Communicators that a trace could not tell apart.
#include "analyze/communicator_ids.h"

#include <gtest/gtest.h>

#include "analyze/integrity.h"
#include "analyze/sequence_of.h"
#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/merge/part.h"
#include "trace/read/trace.h"
#include "trace/values/atom.h"

namespace cairn::analyze {
namespace {

using trace::Atom;

constexpr Atom kWorld = trace::special(trace::kFirstConstant + spec::constant_id::k_COMM_WORLD);

trace::Row call(const char *function, std::vector<std::vector<Atom>> fields) {
  trace::Row row;
  row.function = spec::find_function(function)->id;
  for (std::vector<Atom> &atoms : fields) row.fields.push_back({false, std::move(atoms), {}});
  return row;
}

/// Of a group that is not told, with tag 7.
trace::Row of_group(Atom number, Atom counter, Atom members) {
  return call("MPI_Comm_create_group", {{kWorld}, {0, 0}, {7}, {number, counter, 0, 0, members}, {0}});
}

trace::Row duplicate(Atom parent, Atom number, Atom counter) {
  return call("MPI_Comm_dup", {{parent}, {number, counter, 0, 0}, {0}});
}

size_t repeated(std::initializer_list<std::pair<trace::Row, uint64_t>> rows, bool complete = true) {
  CommunicatorIds ids;
  for (const auto &[row, count] : rows) ids.add(row, count);
  return ids.repeated(complete).size();
}

TEST(CommunicatorIds, ArePerGroup) {
  EXPECT_EQ(repeated({{of_group(2, 0, 5), 1}, {of_group(3, 0, 6), 1}, {of_group(2, 1, 5), 1}}), 0U);
  EXPECT_EQ(repeated({{of_group(2, 0, 5), 1}, {of_group(3, 0, 5), 1}}), 1U);
  EXPECT_EQ(repeated({{of_group(2, 0, 5), 2}}), 1U);
  // As they were before groups were told.
  trace::Row before = of_group(2, 0, 5);
  before.fields[3].atoms.pop_back();
  EXPECT_EQ(repeated({{before, 2}}), 1U);
}

TEST(CommunicatorIds, ArePerParent) {
  EXPECT_EQ(repeated({{duplicate(kWorld, 2, 0), 1}, {duplicate(2, 3, 0), 1}}), 0U);
  EXPECT_EQ(repeated({{duplicate(kWorld, 2, 0), 2}}), 1U);
  // Two had the number 2, one after the other, and were duplicated, but not three times.
  EXPECT_EQ(repeated({{duplicate(kWorld, 2, 0), 1}, {duplicate(kWorld, 2, 1), 1}, {duplicate(2, 3, 0), 2}}), 0U);
  EXPECT_EQ(repeated({{duplicate(kWorld, 2, 0), 1}, {duplicate(kWorld, 2, 1), 1}, {duplicate(2, 3, 0), 3}}), 1U);
  // Who made it nobody knows.
  EXPECT_EQ(repeated({{duplicate(2, 3, 0), 2}}), 0U);
  EXPECT_EQ(repeated({{duplicate(kWorld, 2, 0), 1}, {duplicate(2, 3, 0), 2}}, false), 0U);
}

TEST(CommunicatorIds, AreLookedAtInATrace) {
  trace::ProcessRecord process;
  process.sequences = {sequence_of({of_group(2, 0, 5), of_group(3, 0, 5)})};
  const auto trace = trace::Trace::from_bytes(*trace::Part::of(process)->to_file({}), "test");
  ASSERT_TRUE(trace.has_value());
  const Integrity found = check_integrity(*trace);
  ASSERT_EQ(found.fault_count, 1U);
  EXPECT_EQ(found.faults[0],
            "rank 0: 2 communicators are number 0 of MPI_Comm_create_group, of the same smallest rank");
}

}  // namespace
}  // namespace cairn::analyze
