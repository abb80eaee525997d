// What a trace says of other jobs, and what of it a trace keeps.
#include "analyze/spawned.h"

#include <gtest/gtest.h>

#include "analyze/repeatable.h"
#include "analyze/spawning.h"

namespace cairn::analyze {
namespace {

using namespace spawning;

TEST(Spawned, AreToldByTheRootsOfCallsThatSucceeded) {
  const Atom failed = 16;
  const std::vector<Spawn> spawns = spawns_of(trace_of({spawn({3}), spawn({}), spawn({5}, failed), spawn({1})}));
  ASSERT_EQ(spawns.size(), 2U);
  EXPECT_EQ(spawns[0].processes, 3U);
  EXPECT_EQ(spawns[1].processes, 1U);
  EXPECT_TRUE(spawns_of(trace_of({call("MPI_Finalize", {})})).empty());
}

TEST(Spawned, KnowTheirParents) {
  const Atom none = constant(spec::constant_id::k_COMM_NULL);
  EXPECT_FALSE(was_spawned(trace_of({call("MPI_Comm_get_parent", {atoms({none})})})));
  const trace::Trace spawned = trace_of({call("MPI_Comm_get_parent", {atoms({0, 0, 0, 0})})});
  EXPECT_TRUE(was_spawned(spawned));
  EXPECT_FALSE(may_be_repeated(spawned).has_value());
  EXPECT_TRUE(may_be_repeated(spawned, Others::there).has_value());
}

TEST(Spawned, MeetByPorts) {
  const trace::Trace trace = trace_of(
      {with_port("MPI_Open_port", "a"), with_port("MPI_Comm_accept", "a"), with_port("MPI_Comm_connect", "b")});
  const Ports ports = ports_of(trace);
  EXPECT_EQ(ports.opened, std::set<std::string>{"a"});
  EXPECT_EQ(ports.named, (std::set<std::string>{"a", "b"}));
  EXPECT_FALSE(may_be_repeated(trace).has_value());
  EXPECT_TRUE(may_be_repeated(trace, Others::there).has_value());
}

TEST(Spawned, AndThoseThatSpawnKeepTheNameOfTheirJob) {
  trace::RunInfo run;
  run.job = "7";
  run.spawning = {spec::function_id::Comm_spawn};
  EXPECT_EQ(trace_of({call("MPI_Finalize", {})}, run).run().job, "");
  EXPECT_EQ(trace_of({spawn({1})}, run).run().job, "7");
  EXPECT_EQ(trace_of({spawn({1})}, run).run().spawned_by, "");
  run.spawned_by = "6.3";
  EXPECT_EQ(trace_of({call("MPI_Finalize", {})}, run).run().spawned_by, "6.3");
}

}  // namespace
}  // namespace cairn::analyze
