// Names of communicators, and who is in them.
#include "analyze/communicators.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analyze/communicator_names.h"
#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/values/atom.h"

namespace cairn::analyze {
namespace {

using trace::Atom;

constexpr Atom kWorld = trace::special(trace::kFirstConstant + spec::constant_id::k_COMM_WORLD);
constexpr Atom kSelf = trace::special(trace::kFirstConstant + spec::constant_id::k_COMM_SELF);

trace::Row call(const char *function, std::vector<std::vector<Atom>> fields) {
  trace::Row row;
  row.function = spec::find_function(function)->id;
  for (std::vector<Atom> &atoms : fields) row.fields.push_back({false, std::move(atoms), {}});
  return row;
}

trace::Row duplicate(Atom parent, Atom number, Atom counter, Atom smallest = 0) {
  return call("MPI_Comm_dup", {{parent}, {number, counter, 0, smallest}, {0}});
}

std::string name(CommunicatorNames *names, const trace::Row &row) {
  const NewCommunicator *made = names->see(row);
  return made == nullptr ? "none" : made->name;
}

TEST(CommunicatorNames, AreOfTheWholeRun) {
  CommunicatorNames names;
  EXPECT_EQ(name(&names, duplicate(kWorld, 0, 1, 4)), "comm(1@4)");
  EXPECT_EQ(name(&names, duplicate(0, 1, 0, 4)), "comm(1@4.0@4)");
  EXPECT_EQ(name(&names, duplicate(kSelf, 2, 0, 6)), "comm(self.0@6)");
  EXPECT_EQ(name(&names, duplicate(9, 3, 0)), "comm(?.0@0)");
  EXPECT_EQ(name(&names, call("MPI_Barrier", {{kWorld}, {0}})), "none");
  EXPECT_EQ(*names.name(1), "comm(1@4.0@4)");
  EXPECT_EQ(names.name(7), nullptr);
}

TEST(CommunicatorNames, FollowANumberThatIsUsedAgain) {
  CommunicatorNames names;
  names.see(duplicate(kWorld, 0, 0));
  const uint64_t version = names.version();
  names.see(duplicate(kWorld, 0, 0));
  EXPECT_EQ(names.version(), version);
  names.see(duplicate(kWorld, 0, 1));
  EXPECT_NE(names.version(), version);
  EXPECT_EQ(*names.name(0), "comm(1@0)");
  EXPECT_EQ(name(&names, duplicate(0, 1, 0)), "comm(1@0.0@0)");
}

TEST(CommunicatorNames, DoNotGrowWithTheChainThatTheyAreOf) {
  CommunicatorNames names;
  names.see(duplicate(kWorld, 0, 0));
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string made = name(&names, duplicate(i % 2, 1 - i % 2, 0));
    EXPECT_LT(made.size(), 80U);
    EXPECT_TRUE(seen.insert(made).second) << made;
  }
}

TEST(CommunicatorNames, SayWhoMadeThemWithoutTheirParent) {
  constexpr Atom kTwoByThree = (2 << 24) + 3;
  CommunicatorNames names;
  const auto row = call("MPI_Comm_create_group", {{kWorld}, {0, 0}, {7}, {0, 1, 0, 4, kTwoByThree}, {0}});
  EXPECT_EQ(name(&names, row), "comm(Comm_create_group 7: 1@4 of 2 by 3)");
}

TEST(CommunicatorNames, SayTheOwnPlace) {
  CommunicatorNames names;
  const NewCommunicator *made = names.see(call("MPI_Comm_dup", {{kWorld}, {0, 0, 3, 0}, {0}}));
  EXPECT_EQ(made->rank, 3);
  EXPECT_FALSE(made->second);
  EXPECT_EQ(made->parent, "MPI_COMM_WORLD");
  made = names.see(call("MPI_Comm_dup", {{kWorld}, {0, 0, -1, 0}, {0}}));
  EXPECT_EQ(made->rank, 0);
  EXPECT_TRUE(made->second);
  made = names.see(call("MPI_Comm_dup", {{kWorld}, {0, 0, trace::kUnknown, 0}, {0}}));
  EXPECT_EQ(made->rank, std::nullopt);
}

TEST(Members, AreRuns) {
  const auto text = [](std::initializer_list<uint32_t> ranks) {
    std::vector<Communicator::Member> members;
    for (const uint32_t rank : ranks) members.push_back({static_cast<int64_t>(members.size()), rank});
    return members_text(members);
  };
  EXPECT_EQ(text({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(text({0, 1, 7}), "0-1,7");
  EXPECT_EQ(text({5, 2}), "5,2");
  EXPECT_EQ(text({0, 2, 4, 6, 1}), "0-6:2,1");
  EXPECT_EQ(text({3, 2, 1, 0}), "3-0:-1");
  EXPECT_EQ(text({}), "");
}

TEST(WorldRank, IsOfTheSideThatIsMeant) {
  Communicator inter;
  inter.groups[0] = {{0, 4}, {1, 2}};
  inter.groups[1] = {{0, 7}, {1, 9}};
  EXPECT_EQ(world_rank(inter, 1, 4, Side::other), 9U);
  EXPECT_EQ(world_rank(inter, 1, 4, Side::own), 2U);
  EXPECT_EQ(world_rank(inter, 0, 9, Side::other), 4U);
  EXPECT_EQ(world_rank(inter, 2, 9, Side::other), std::nullopt);
  Communicator spawned;
  spawned.groups[0] = {{0, 4}, {1, 2}};
  spawned.foreign = true;
  EXPECT_EQ(world_rank(spawned, 0, 4, Side::other), std::nullopt);
  EXPECT_EQ(world_rank(spawned, 1, 4, Side::own), 2U);
  Communicator untold;
  untold.groups[0] = {{0, 1}, {0, 2}};  // nobody knew its place
  EXPECT_EQ(world_rank(untold, 0, 1, Side::own), std::nullopt);
}

}  // namespace
}  // namespace cairn::analyze
