// Who is in a group.
#include "analyze/groups.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/values/atom.h"

namespace cairn::analyze {
namespace {

using trace::Atom;
using List = std::vector<uint32_t>;

const Atom kEmpty = trace::special(trace::kFirstConstant + spec::constant_id::k_GROUP_EMPTY);

/// A rank's calls; groups are named by numbers.
class Calls {
 public:
  void make(const char *function, std::vector<std::vector<Atom>> fields, const Groups::Members &whole = nullptr) {
    trace::Row row;
    row.function = spec::find_function(function)->id;
    for (std::vector<Atom> &atoms : fields) row.fields.push_back({false, std::move(atoms), {}});
    groups_.see(RowAccess(row, scope_), whole);
  }
  List of(Atom number) {
    const Groups::Members found = groups_.of(handle_name(0, number, spec::Layout::handle, scope_));
    return found == nullptr ? List{9999} : *found;
  }

 private:
  RowScope scope_{{trace::Site()}, 0};
  Groups groups_;
};

std::vector<Atom> group(Atom number) { return {0, number}; }

TEST(Groups, AreWhatTheirCallsMake) {
  const auto world = std::make_shared<List>(List{10, 11, 12, 13, 14, 15, 16, 17});
  Calls calls;
  calls.make("MPI_Comm_group", {{0}, group(0), {0}}, world);
  EXPECT_EQ(calls.of(0), *world);
  calls.make("MPI_Group_incl", {group(0), {3}, {6, 1, 3}, group(1), {0}});
  EXPECT_EQ(calls.of(1), (List{16, 11, 13}));
  calls.make("MPI_Group_excl", {group(1), {1}, {1}, group(2), {0}});
  EXPECT_EQ(calls.of(2), (List{16, 13}));
  calls.make("MPI_Group_range_incl", {group(0), {2}, {0, 4, 2, 7, 6, -1}, group(3), {0}});
  EXPECT_EQ(calls.of(3), (List{10, 12, 14, 17, 16}));
  calls.make("MPI_Group_range_excl", {group(0), {1}, {1, 7, 3}, group(4), {0}});
  EXPECT_EQ(calls.of(4), (List{10, 12, 13, 15, 16}));
  calls.make("MPI_Group_union", {group(2), group(3), group(5), {0}});
  EXPECT_EQ(calls.of(5), (List{16, 13, 10, 12, 14, 17}));
  calls.make("MPI_Group_intersection", {group(3), group(2), group(6), {0}});
  EXPECT_EQ(calls.of(6), (List{16}));
  calls.make("MPI_Group_difference", {group(3), group(2), group(7), {0}});
  EXPECT_EQ(calls.of(7), (List{10, 12, 14, 17}));
}

TEST(Groups, AreNotGuessed) {
  Calls calls;
  calls.make("MPI_Comm_group", {{0}, group(0), {0}});  // of a communicator that nobody knows
  EXPECT_EQ(calls.of(0), List{9999});
  calls.make("MPI_Group_incl", {group(0), {1}, {0}, group(1), {0}});
  EXPECT_EQ(calls.of(1), List{9999});
  calls.make("MPI_Comm_group", {{0}, group(0), {0}}, std::make_shared<List>(List{4, 5}));
  calls.make("MPI_Group_range_incl", {group(0), {1}, {0, 1, 0}, group(1), {0}});  // no step
  EXPECT_EQ(calls.of(1), List{9999});
  calls.make("MPI_Group_range_incl", {group(0), {1}, {1, INT64_MAX, INT64_MAX}, group(2), {0}});  // too far
  EXPECT_EQ(calls.of(2), List{5});
  calls.make("MPI_Group_free", {group(0), {0}});
  EXPECT_EQ(calls.of(0), List{9999});
  EXPECT_EQ(Groups().of(handle_name(kEmpty, 0, spec::Layout::handle, {}))->size(), 0U);
}

}  // namespace
}  // namespace cairn::analyze
