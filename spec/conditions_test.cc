// What the table's conditions and lengths say for the cases that the standard tells apart.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "spec/expression.h"
#include "spec/ids.h"

namespace {

using namespace cairn::spec;

constexpr int64_t kRoot = -3;
constexpr int64_t kProcNull = -1;
constexpr int64_t kUndefined = -32766;
constexpr int64_t kInPlace = -1;
constexpr int64_t kBuffer = 0x1000;

/// A call with arguments by name; arrays and what pointers point to are lists.
struct Call {
  explicit Call(std::string_view name) : function(find_function(name)) {
    EXPECT_NE(function, nullptr) << name;
    constants = {{constant_id::k_ROOT, kRoot},
                 {constant_id::k_PROC_NULL, kProcNull},
                 {constant_id::k_UNDEFINED, kUndefined},
                 {constant_id::k_IN_PLACE, kInPlace},
                 {constant_id::k_NO_OP, 77},
                 {constant_id::k_MAX_OBJECT_NAME, 128}};
  }
  Call &with(const std::string &name, int64_t word) {
    words[index(name)] = word;
    return *this;
  }
  Call &points_to(const std::string &name, std::vector<int64_t> values) {
    words[index(name)] = 1;
    arrays[index(name)] = std::move(values);
    return *this;
  }
  Call &with(Query query, int64_t answer) {
    answers[query] = answer;
    return *this;
  }
  [[nodiscard]] unsigned index(const std::string &name) const {
    for (unsigned i = 0; i < function->parameter_count; ++i) {
      if (name == function->parameters[i].name) return i;
    }
    ADD_FAILURE() << function->name << " has no " << name;
    return 0;
  }

  int64_t argument(unsigned i) { return words[i]; }
  int64_t dereference(unsigned i) { return element(i, 0); }
  int64_t element(unsigned i, int64_t at) {
    const auto &values = arrays[i];
    return at >= 0 && static_cast<size_t>(at) < values.size() ? values[static_cast<size_t>(at)] : -99;
  }
  int64_t constant(uint16_t id) { return constants.count(id) != 0 ? constants[id] : INT64_MIN; }
  int64_t query(Query what, unsigned) { return answers[what]; }
  int64_t query(Query what, unsigned, int64_t second) { return answers[what] + second; }

  bool significant(const std::string &name) {
    const Expression e = function->parameters[index(name)].significant;
    return !e || evaluate(e, *this) != 0;
  }
  bool valid(const std::string &name) {
    const Expression e = function->parameters[index(name)].valid;
    return !e || evaluate(e, *this) != 0;
  }
  int64_t length(const std::string &name) { return evaluate(function->parameters[index(name)].length, *this); }
  int64_t capacity(const std::string &name) { return evaluate(function->parameters[index(name)].capacity, *this); }

  const Function *function;
  std::map<unsigned, int64_t> words;
  std::map<unsigned, std::vector<int64_t>> arrays;
  std::map<uint16_t, int64_t> constants;
  std::map<Query, int64_t> answers;
};

std::string significant(Call call) {
  std::string names;
  for (unsigned i = 0; i < call.function->parameter_count; ++i) {
    const char *name = call.function->parameters[i].name;
    if (call.significant(name)) names += std::string(names.empty() ? "" : " ") + name;
  }
  return names;
}

Call rooted(std::string_view name, int64_t root, int64_t rank, bool inter) {
  Call call(name);
  call.with("root", root).with(Query::rank, rank).with(Query::inter, inter ? 1 : 0);
  return call;
}

TEST(Conditions, GatherOnAnIntracommunicator) {
  for (const char *name : {"MPI_Gather", "MPI_Gather_c", "MPI_Gatherv"}) {
    const std::string counts = std::string(name) == "MPI_Gatherv" ? "recvbuf recvcounts displs" : "recvbuf recvcount";
    EXPECT_EQ(significant(rooted(name, 2, 2, false)), "sendbuf sendcount sendtype " + counts + " recvtype root comm");
    EXPECT_EQ(significant(rooted(name, 2, 1, false)), "sendbuf sendcount sendtype root comm");
    EXPECT_EQ(significant(rooted(name, 2, 2, false).with("sendbuf", kInPlace)),
              "sendbuf " + counts + " recvtype root comm");
  }
}

TEST(Conditions, GatherOnAnIntercommunicator) {
  EXPECT_EQ(significant(rooted("MPI_Igather", kRoot, 0, true)), "recvbuf recvcount recvtype root comm request");
  EXPECT_EQ(significant(rooted("MPI_Igather", kProcNull, 1, true)), "root comm request");
  // The root's rank in the other group may be this process's own: that makes it no root.
  EXPECT_EQ(significant(rooted("MPI_Igather", 1, 1, true)), "sendbuf sendcount sendtype root comm request");
}

TEST(Conditions, ScatterAndItsInPlace) {
  EXPECT_EQ(significant(rooted("MPI_Scatterv", 0, 0, false).with("recvbuf", kInPlace)),
            "sendbuf sendcounts displs sendtype recvbuf root comm");
  EXPECT_EQ(significant(rooted("MPI_Scatterv", 0, 1, false)), "recvbuf recvcount recvtype root comm");
  EXPECT_EQ(significant(rooted("MPI_Scatter", kRoot, 1, true)), "sendbuf sendcount sendtype root comm");
  EXPECT_EQ(significant(rooted("MPI_Scatter", 0, 0, true)), "recvbuf recvcount recvtype root comm");
}

TEST(Conditions, ReduceAndBcast) {
  EXPECT_EQ(significant(rooted("MPI_Reduce", 0, 1, false)), "sendbuf count datatype op root comm");
  EXPECT_EQ(significant(rooted("MPI_Reduce", 1, 1, false)), "sendbuf recvbuf count datatype op root comm");
  EXPECT_EQ(significant(rooted("MPI_Reduce", kRoot, 1, true)), "recvbuf count datatype op root comm");
  EXPECT_EQ(significant(rooted("MPI_Reduce", kProcNull, 1, true)), "root comm");
  EXPECT_EQ(significant(rooted("MPI_Bcast", kProcNull, 1, true)), "root comm");
  EXPECT_EQ(significant(rooted("MPI_Bcast", 3, 1, true)), "buffer count datatype root comm");
}

TEST(Conditions, AlltoallInPlace) {
  Call call("MPI_Ialltoallw");
  call.with("sendbuf", kInPlace);
  EXPECT_EQ(significant(call), "sendbuf recvbuf recvcounts rdispls recvtypes comm request");
  call.with("sendbuf", kBuffer).with(Query::peer_size, 5);
  EXPECT_TRUE(call.significant("sendtypes"));
  EXPECT_EQ(call.length("sendtypes"), 5);
}

TEST(Conditions, ReduceScatterCountsTheLocalGroup) {
  Call call("MPI_Reduce_scatter");
  call.with(Query::local_size, 3).with(Query::peer_size, 9).with(Query::rank, 1).with(Query::extent, 4);
  call.points_to("recvcounts", {2, 5, 7}).with("sendbuf", kBuffer);
  EXPECT_EQ(call.length("recvcounts"), 3);
  EXPECT_EQ(call.length("sendbuf"), 14 * 4);
  EXPECT_EQ(call.length("recvbuf"), 5 * 4);
  EXPECT_EQ(call.with("sendbuf", kInPlace).length("recvbuf"), 14 * 4);
}

TEST(Conditions, SpawnIsTheRootsAffair) {
  Call call = rooted("MPI_Comm_spawn_multiple", 0, 0, false);
  call.with("count", 2).points_to("array_of_maxprocs", {3, 4});
  EXPECT_EQ(call.length("array_of_errcodes"), 7);
  EXPECT_EQ(significant(rooted("MPI_Comm_spawn_multiple", 0, 1, false)), "root comm intercomm");
}

TEST(Conditions, Graphs) {
  Call graph("MPI_Graph_create");
  graph.with("nnodes", 3).points_to("index", {1, 3, 4});
  EXPECT_EQ(graph.length("edges"), 4);
  EXPECT_EQ(graph.with("nnodes", 0).length("edges"), 0);
  Call dist("MPI_Dist_graph_create");
  dist.with("n", 2).points_to("degrees", {2, 3});
  EXPECT_EQ(dist.length("destinations"), 5);
  EXPECT_EQ(dist.length("weights"), 5);
  Call neighbours("MPI_Dist_graph_neighbors");
  neighbours.with("maxindegree", 2).with(Query::indegree, 4).with(Query::weighted, 0);
  EXPECT_EQ(neighbours.length("sources"), 2);
  EXPECT_TRUE(neighbours.valid("sources"));
  EXPECT_FALSE(neighbours.valid("sourceweights"));
  EXPECT_TRUE(neighbours.with(Query::weighted, 1).valid("sourceweights"));
  Call of_rank("MPI_Graph_neighbors");
  of_rank.with("maxneighbors", 100).with("rank", 6).with(Query::graph_neighbors_count, 10);
  EXPECT_EQ(of_rank.length("neighbors"), 16);
}

TEST(Conditions, Completion) {
  Call testsome("MPI_Testsome");
  testsome.with("incount", 4).points_to("outcount", {kUndefined});
  EXPECT_FALSE(testsome.valid("array_of_indices"));
  EXPECT_FALSE(testsome.valid("array_of_statuses"));
  testsome.points_to("outcount", {2});
  EXPECT_TRUE(testsome.valid("array_of_statuses"));
  EXPECT_EQ(testsome.length("array_of_statuses"), 2);
  EXPECT_EQ(testsome.capacity("array_of_statuses"), 4);
  Call testall("MPI_Testall");
  EXPECT_FALSE(testall.points_to("flag", {0}).valid("array_of_statuses"));
  EXPECT_TRUE(testall.points_to("flag", {1}).valid("array_of_statuses"));
  Call testany("MPI_Testany");
  testany.points_to("flag", {1}).points_to("index", {kUndefined});
  EXPECT_FALSE(testany.valid("array_of_requests"));
  EXPECT_TRUE(testany.valid("status"));
  EXPECT_TRUE(testany.points_to("index", {0}).valid("array_of_requests"));
  EXPECT_FALSE(Call("MPI_Improbe").points_to("flag", {0}).valid("message"));
  EXPECT_TRUE(Call("MPI_Wait").valid("status"));
}

TEST(Conditions, InfoAndAttributes) {
  Call get("MPI_Info_get");
  get.with("valuelen", 10).points_to("flag", {0});
  EXPECT_FALSE(get.valid("value"));
  EXPECT_EQ(get.capacity("value"), 11);
  EXPECT_EQ(get.length("value"), 11);  // of strings, length is the capacity
  Call text("MPI_Info_get_string");
  text.points_to("buflen", {0}).points_to("flag", {1});
  EXPECT_EQ(text.capacity("value"), 0);
  EXPECT_FALSE(Call("MPI_Comm_get_attr").points_to("flag", {0}).valid("attribute_val"));
  EXPECT_EQ(Call("MPI_Type_get_name").capacity("type_name"), 128);
}

TEST(Conditions, ToolInterfaceWithoutRoom) {
  Call call("MPI_T_cvar_get_info");
  EXPECT_EQ(call.with("name_len", 0).capacity("name"), 0);
  EXPECT_EQ(call.points_to("name_len", {30}).capacity("name"), 30);
  EXPECT_TRUE(call.function->parameters[call.index("verbosity")].may_be_null);
}

TEST(Conditions, OthersThatTheStandardTellsApart) {
  EXPECT_FALSE(Call("MPI_Comm_split").with("color", kUndefined).significant("key"));
  EXPECT_TRUE(Call("MPI_Comm_split").with("color", 1).significant("key"));
  Call leader("MPI_Intercomm_create");
  leader.with("local_leader", 1).with(Query::rank, 0);
  EXPECT_FALSE(leader.significant("peer_comm"));
  EXPECT_TRUE(leader.with(Query::rank, 1).significant("remote_leader"));
  EXPECT_FALSE(Call("MPI_Get_accumulate").with("op", 77).significant("origin_addr"));
  EXPECT_TRUE(Call("MPI_Get_accumulate").with("op", 1).significant("origin_datatype"));
  EXPECT_TRUE(Call("MPI_Get_accumulate").with("op", 77).significant("result_addr"));
  EXPECT_EQ(Call("MPI_Group_range_incl").with("n", 2).length("ranges"), 6);
  EXPECT_EQ(Call("MPI_Init").points_to("argc", {3}).length("argv"), 3);
  EXPECT_EQ(Call("MPI_Init").with("argc", 0).length("argv"), 0);
}

}  // namespace
